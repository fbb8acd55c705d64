//! The operations of a mounted disk.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, LockOwner,
    OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::{FallocateFlags, OFlags};

use super::{Disk, Entry, Inode, SYNC_TIME, State, now, permissions, position};

/// How long the kernel may cache names and attributes. All changes pass through it.
const CACHE_TIME: Duration = Duration::from_secs(3600);

/// The free blocks, and files, of a disk.
const FREE: u64 = 1 << 28;

/// A mount, until the next restore.
pub(super) struct Session {
    pub(super) disk: Disk,
    pub(super) boot: u64,
}

impl Session {
    /// Runs an operation if the power is on, and sends its result.
    fn run<T>(&self, reply: impl Reply<T>, operation: impl FnOnce(&mut State) -> Result<T, Errno>) {
        let mut state = self.disk.state();
        let has_power = state.is_on && state.boot == self.boot;
        let result = if has_power { operation(&mut state) } else { Err(Errno::EIO) };
        drop(state);
        reply.send(result);
    }
}

/// A reply with a `T` or an error.
trait Reply<T> {
    fn send(self, result: Result<T, Errno>);
}

macro_rules! replies {
    ($(($type:ident, $reply:ident, $value:ident: $of:ty) => $send:expr;)*) => {$(
        impl Reply<$of> for $type {
            fn send(self, result: Result<$of, Errno>) {
                let $reply = self;
                match result {
                    Ok($value) => $send,
                    Err(error) => $reply.error(error),
                }
            }
        }
    )*};
}

replies! {
    (ReplyAttr, reply, attributes: FileAttr) => reply.attr(&CACHE_TIME, &attributes);
    (ReplyCreate, reply, created: (FileAttr, u64)) => {
        let (attributes, handle) = created;
        reply.created(&CACHE_TIME, &attributes, Generation(0), FileHandle(handle), FopenFlags::FOPEN_KEEP_CACHE);
    };
    (ReplyData, reply, data: Vec<u8>) => reply.data(&data);
    (ReplyEmpty, reply, _nothing: ()) => reply.ok();
    (ReplyEntry, reply, attributes: FileAttr) => reply.entry(&CACHE_TIME, &attributes, Generation(0));
    (ReplyOpen, reply, handle: u64) => reply.opened(FileHandle(handle), FopenFlags::FOPEN_KEEP_CACHE);
    (ReplyStatfs, reply, _nothing: ()) => reply.statfs(FREE, FREE, FREE, FREE, FREE, 4096, 255, 4096);
    (ReplyWrite, reply, size: usize) => reply.written(size as u32);
    (ReplyDirectory, reply, entries: Vec<(Entry, u64)>) => {
        let mut reply = reply;
        let _ = entries.into_iter().any(|((number, kind, name), next)| reply.add(INodeNo(number), next, kind, name));
        reply.ok();
    };
}

/// What is not here, the kernel does itself (locks, permissions) or does without (extended attributes, devices, holes).
impl Filesystem for Session {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.run(reply, |state| {
            let number = state.find(parent.0, name)?;
            Ok(state.inode(number)?.attributes())
        });
    }

    fn getattr(&self, _: &Request, file: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        self.run(reply, |state| Ok(state.inode(file.0)?.attributes()));
    }

    fn setattr(
        &self,
        _: &Request,
        file: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let time = |time| if let TimeOrNow::SpecificTime(time) = time { time } else { now() };
        self.run(reply, |state| {
            let inode = state.inode(file.0)?;
            size.map_or(Ok(()), |size| inode.resize(size))?;
            let attributes = &mut inode.attributes;
            attributes.perm = mode.map_or(attributes.perm, permissions);
            attributes.uid = uid.unwrap_or(attributes.uid);
            attributes.gid = gid.unwrap_or(attributes.gid);
            attributes.atime = atime.map_or(attributes.atime, time);
            attributes.mtime = mtime.map_or(attributes.mtime, time);
            attributes.ctime = now();
            Ok(inode.attributes())
        });
    }

    fn readlink(&self, _: &Request, link: INodeNo, reply: ReplyData) {
        self.run(reply, |state| Ok(state.inode(link.0)?.current.clone()));
    }

    fn mkdir(&self, user: &Request, parent: INodeNo, name: &OsStr, mode: u32, _: u32, reply: ReplyEntry) {
        let inode = Inode::new(FileType::Directory, mode, user.uid(), user.gid());
        self.run(reply, |state| state.create(parent.0, name, inode));
    }

    fn symlink(&self, user: &Request, parent: INodeNo, name: &OsStr, target: &Path, reply: ReplyEntry) {
        let mut inode = Inode::new(FileType::Symlink, 0o777, user.uid(), user.gid());
        self.run(reply, |state| {
            inode.write(0, target.as_os_str().as_bytes())?;
            // The target is durable with the name.
            inode.sync();
            state.create(parent.0, name, inode)
        });
    }

    fn link(&self, _: &Request, file: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.run(reply, |state| state.link(file.0, parent.0, name));
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.run(reply, |state| state.remove(parent.0, name));
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.run(reply, |state| state.remove(parent.0, name));
    }

    fn rename(
        &self,
        _: &Request,
        old_parent: INodeNo,
        old: &OsStr,
        parent: INodeNo,
        name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        self.run(reply, |state| state.rename((old_parent.0, old.to_owned()), (parent.0, name.to_owned()), flags));
    }

    fn create(&self, user: &Request, parent: INodeNo, name: &OsStr, mode: u32, _: u32, _: i32, reply: ReplyCreate) {
        let inode = Inode::new(FileType::RegularFile, mode, user.uid(), user.gid());
        self.run(reply, |state| {
            let attributes = state.create(parent.0, name, inode)?;
            Ok((attributes, state.open(attributes.ino.0)?))
        });
    }

    fn open(&self, _: &Request, file: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        self.run(reply, |state| state.open(file.0));
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.run(reply, |state| {
            state.close(handle.0);
            Ok(())
        });
    }

    fn read(
        &self,
        _: &Request,
        file: INodeNo,
        _: FileHandle,
        start: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.run(reply, |state| {
            let content = &state.inode(file.0)?.current;
            let start = position(start)?.min(content.len());
            let end = content.len().min(start + size as usize);
            Ok(content.get(start..end).unwrap_or_default().to_vec())
        });
    }

    fn write(
        &self,
        _: &Request,
        file: INodeNo,
        _: FileHandle,
        start: u64,
        data: &[u8],
        _: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let flags = OFlags::from_bits_retain(flags.0.cast_unsigned());
        self.run(reply, |state| {
            let inode = state.inode(file.0)?;
            inode.write(start, data)?;
            if flags.intersects(OFlags::SYNC | OFlags::DSYNC) {
                inode.sync();
            }
            Ok(data.len())
        });
    }

    fn fallocate(
        &self,
        _: &Request,
        file: INodeNo,
        _: FileHandle,
        start: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let mode = FallocateFlags::from_bits_retain(mode.cast_unsigned());
        self.run(reply, |state| {
            let inode = state.inode(file.0)?;
            if mode.is_empty() && start + length > inode.current.len() as u64 {
                inode.resize(start + length)?;
            }
            if (mode - FallocateFlags::KEEP_SIZE).is_empty() { Ok(()) } else { Err(Errno::EOPNOTSUPP) }
        });
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        self.run(reply, |_| Ok(()));
    }

    fn fsync(&self, _: &Request, file: INodeNo, handle: FileHandle, _: bool, reply: ReplyEmpty) {
        let is_needed = self.disk.state().inode(file.0).is_ok_and(|inode| !inode.unsynced.is_empty());
        if is_needed {
            std::thread::sleep(SYNC_TIME);
        }
        self.run(reply, |state| state.sync_file(file.0, handle.0));
    }

    fn opendir(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        self.run(reply, |state| Ok(state.next_number()));
    }

    fn readdir(&self, _: &Request, folder: INodeNo, handle: FileHandle, start: u64, reply: ReplyDirectory) {
        self.run(reply, |state| Ok(state.list(folder.0, handle.0, start)?.into_iter().zip(start + 1..).collect()));
    }

    fn releasedir(&self, _: &Request, _: INodeNo, handle: FileHandle, _: OpenFlags, reply: ReplyEmpty) {
        self.run(reply, |state| {
            state.listings.remove(&handle.0);
            Ok(())
        });
    }

    fn fsyncdir(&self, _: &Request, folder: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.run(reply, |state| {
            state.sync_folder(folder.0);
            Ok(())
        });
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        self.run(reply, |_| Ok(()));
    }
}
