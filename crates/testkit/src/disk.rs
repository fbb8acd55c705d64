//! A file system for tests that simulates a power cut: it is mounted with FUSE, is held in memory, and drops what was
//! not synced.
//!
//! [`Disk::cut`] turns the power off, and [`Disk::restore`] chooses what a disk may contain after that:
//!
//! - Contents: `fsync` and `fdatasync` make the content and the size of a file durable, and so does each write with
//!   `O_SYNC` or `O_DSYNC`. Of the changes since then, the size is that after any number of them, and each sector of 512
//!   bytes has, independently, the content after any number of them. So writes may be torn, a later write may survive
//!   without an earlier one, and new sectors may be zeros. Only a `truncate` to a smaller size is ordered: what was written
//!   after it does not survive without it, because it is in blocks that were allocated again.
//! - Names: creations, links, renames and removals survive in their order up to any point, as in the journal of ext4 or
//!   XFS. `fsync` of a folder makes them durable up to the last one in that folder, with earlier ones in other folders:
//!   fsync(2) does not promise the latter, but PostgreSQL, which does not sync the folders of new tables, needs it. `fsync`
//!   of a file makes none durable, although ext4, XFS and Btrfs also keep the name of a new file.
//! - Modes, owners and times are always durable.
//!
//! The disk writes the oldest changes by itself when there are too many, as a kernel does. `sync` and `syncfs` do nothing,
//! because the kernel does not forward them. Unmounting makes nothing durable either.
//!
//! The process with the [`Disk`] serves the file system, so it may end only after the processes that use it.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use fuser::{BackgroundSession, Config, Errno, FileAttr, FileType, INodeNo, MountOption, RenameFlags, SessionACL};
use rustix::mount::UnmountFlags;

use crate::effort::SeededRng;
use crate::postgres::is_running;

mod fuse;

/// The size of what a disk writes as a whole.
const SECTOR: usize = 512;

/// The size of the parts of a write that count as changes of their own, because a kernel writes files by pages.
const PAGE: usize = 4096;

/// How long a sync takes if there is something to sync, about as on a disk. So a cut at a random moment often comes before
/// its end.
const SYNC_TIME: Duration = Duration::from_millis(2);

/// How much memory the unsynced changes of a file may take. Beyond it, the oldest become durable.
const MAX_UNSYNCED_BYTES: usize = 16 << 20;

/// How many changes of names may be unsynced. Beyond it, the oldest become durable.
const MAX_UNSYNCED_NAMES: usize = 256;

/// The largest file, because contents are held in memory.
const MAX_SIZE: u64 = 2 << 30;

/// What the source of a mount begins with. The process that serves it follows.
const SOURCE: &str = "powercut-";

/// The number of the root folder.
const ROOT: u64 = INodeNo::ROOT.0;

/// A disk. Clones are handles of the same disk.
#[derive(Clone)]
pub struct Disk(Arc<Mutex<State>>);

/// A mounted disk. Dropping it unmounts the disk at once; files that are still open can be used until the next cut.
pub struct Mounted {
    path: PathBuf,
    _session: BackgroundSession,
}

/// What a power cut dropped: the difference between what programs saw before it and what they find after it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Losses {
    /// The paths, from the root of the disk, of files that had another content before the cut, and how many bytes differ.
    pub bytes: BTreeMap<PathBuf, usize>,
    /// The number of creations, links, renames and removals that were dropped.
    pub names: usize,
}

impl Default for Disk {
    fn default() -> Self {
        Self::new()
    }
}

impl Disk {
    /// Creates an empty disk. Its root folder belongs to root and has mode 755.
    #[must_use]
    pub fn new() -> Self {
        let root = Inode::new(FileType::Directory, 0o755, 0, 0);
        Self(Arc::new(Mutex::new(State {
            is_on: true,
            boot: 0,
            last_number: ROOT,
            inodes: BTreeMap::from([(ROOT, root)]),
            names: Names::new(),
            durable: Names::new(),
            journal: VecDeque::new(),
            open: HashMap::new(),
            failed: HashSet::new(),
            listings: HashMap::new(),
        })))
    }

    /// Mounts the disk on an empty folder for all users. There should be one mount at a time, because the kernel caches
    /// the files of each.
    ///
    /// # Errors
    /// The power is off, the folder is a mount already, there is no `/dev/fuse`, or the process is not root and
    /// `fusermount3` does not let it mount for all users.
    pub fn mount(&self, path: &Path) -> std::io::Result<Mounted> {
        let boot = {
            let state = self.state();
            if !state.is_on {
                return Err(std::io::Error::other("the power of the disk is off"));
            }
            state.boot
        };
        let path = path.canonicalize()?;
        // Dropping the session unmounts the path once more (fuser 0.18).
        if path.metadata()?.dev() != path.join("..").metadata()?.dev() {
            return Err(std::io::Error::other("the folder is a mount already"));
        }
        detach_old_mounts();
        let mut config = Config::default();
        config.acl = SessionACL::All;
        config.mount_options =
            vec![MountOption::FSName(format!("{SOURCE}{}", std::process::id())), MountOption::DefaultPermissions];
        let session = fuser::spawn_mount(fuse::Session { disk: self.clone(), boot }, &path, &config)?;
        Ok(Mounted { path, _session: session })
    }

    /// Makes everything durable that was written until now.
    pub fn sync(&self) {
        let mut state = self.state();
        let changes = state.journal.len();
        state.commit(changes);
        state.inodes.values_mut().for_each(Inode::sync);
    }

    /// Fails to write what is not synced of a file, and never tries again, as a kernel does with a disk that has errors.
    /// Programs go on reading it, until the next cut. The next `fsync` of each open handle of the file fails with `EIO`.
    ///
    /// # Errors
    /// There is no such file.
    pub fn lose_unsynced(&self, path: &Path) -> std::io::Result<()> {
        let mut state = self.state();
        let entry = state.paths().into_iter().find(|(_, known)| known == path);
        let (number, _) = entry.ok_or(std::io::ErrorKind::NotFound)?;
        state.lose_unsynced(number);
        Ok(())
    }

    /// Cuts the power: from now on all operations of mounts fail with `EIO` and change nothing. The kernel may still
    /// answer reads from its cache.
    pub fn cut(&self) {
        self.state().is_on = false;
    }

    /// Restores the power, after a cut if there was none, and returns what the cut dropped. Mounts from before the cut
    /// stay without power.
    ///
    /// The seed chooses what survives: of the changes of names, of the size of each file, and of its content, either none
    /// that was not synced, or a random part, or all but perhaps the last.
    pub fn restore(&self, seed: u64) -> Losses {
        self.state().restore(&mut SeededRng::new(seed))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Detaches mounts of processes that were killed. All access to them fails.
fn detach_old_mounts() {
    for mount in std::fs::read_to_string("/proc/mounts").unwrap_or_default().lines() {
        let mut fields = mount.split(' ');
        let process = fields.next().and_then(|source| source.strip_prefix(SOURCE)?.parse().ok());
        if let (Some(process), Some(path)) = (process, fields.next())
            && !is_running(process)
        {
            let _ = rustix::mount::unmount(path, UnmountFlags::DETACH);
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Without waiting for processes that still use files. The thread of the session ends when they are closed.
        let _ = rustix::mount::unmount(&self.path, UnmountFlags::DETACH);
    }
}

/// A name in the folder with this number.
type Name = (u64, OsString);

/// The numbers of all names.
type Names = BTreeMap<Name, u64>;

/// What a folder lists.
type Entry = (u64, FileType, OsString);

struct State {
    is_on: bool,
    /// The number of restores.
    boot: u64,
    /// The last number of an inode or of an open folder.
    last_number: u64,
    inodes: BTreeMap<u64, Inode>,
    names: Names,
    /// The names that survive a cut.
    durable: Names,
    /// The changes from the durable names to the current ones. The parts of a change survive together.
    journal: VecDeque<Vec<(Name, Option<u64>)>>,
    /// The files of open handles.
    open: HashMap<u64, u64>,
    /// Open handles of files of which something could not be written.
    failed: HashSet<u64>,
    /// The entries of open folders, so that a program can delete files while it lists them.
    listings: HashMap<u64, Vec<Entry>>,
}

struct Inode {
    /// Without the size. `nlink` counts the current names.
    attributes: FileAttr,
    /// How often it is open, has a durable name, or gets a name in the journal.
    references: u32,
    /// The content, or the target of a symbolic link.
    current: Vec<u8>,
    /// The content that survives a cut.
    durable: Vec<u8>,
    /// The changes from the durable content to the current one.
    unsynced: VecDeque<Change>,
    unsynced_bytes: usize,
}

enum Change {
    Write(usize, Vec<u8>),
    /// To a smaller size.
    Shrink(usize),
    Grow(usize),
}

impl Change {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write(start, data) => write(content, *start, data),
            Self::Shrink(size) | Self::Grow(size) => resize(content, *size),
        }
    }

    /// The memory that it takes.
    fn bytes(&self) -> usize {
        let data = if let Self::Write(_, data) = self { data.len() } else { 0 };
        data + size_of::<Self>()
    }
}

fn write(content: &mut Vec<u8>, start: usize, data: &[u8]) {
    if content.len() < start {
        resize(content, start);
    }
    let (replacement, appended) = data.split_at(data.len().min(content.len() - start));
    if let Some(replaced) = content.get_mut(start..start + replacement.len()) {
        replaced.copy_from_slice(replacement);
    }
    content.extend_from_slice(appended);
}

/// `Vec::resize`, which takes many times longer without optimization.
fn resize(content: &mut Vec<u8>, size: usize) {
    content.truncate(size);
    content.append(&mut vec![0; size - content.len()]);
}

impl Inode {
    fn new(kind: FileType, mode: u32, uid: u32, gid: u32) -> Self {
        let now = now();
        let attributes = FileAttr {
            ino: INodeNo::ROOT,
            size: 0,
            blocks: 0,
            atime: now,
            mtime: now,
            ctime: now,
            crtime: now,
            kind,
            perm: permissions(mode),
            nlink: 0,
            uid,
            gid,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        };
        let (current, durable, unsynced) = (Vec::new(), Vec::new(), VecDeque::new());
        Self { attributes, references: 0, current, durable, unsynced, unsynced_bytes: 0 }
    }

    fn attributes(&self) -> FileAttr {
        let size = self.current.len() as u64;
        let nlink = if self.attributes.kind == FileType::Directory { 2 } else { self.attributes.nlink };
        FileAttr { size, blocks: size.div_ceil(512), nlink, ..self.attributes }
    }

    fn touch(&mut self) {
        self.attributes.ctime = now();
        self.attributes.mtime = self.attributes.ctime;
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.current);
        self.touch();
        self.unsynced_bytes += change.bytes();
        self.unsynced.push_back(change);
        while self.unsynced_bytes > MAX_UNSYNCED_BYTES && self.sync_first() {}
    }

    fn resize(&mut self, size: u64) -> Result<(), Errno> {
        let size = position(size)?;
        self.change(if size < self.current.len() { Change::Shrink(size) } else { Change::Grow(size) });
        Ok(())
    }

    fn write(&mut self, start: u64, data: &[u8]) -> Result<(), Errno> {
        position(start + data.len() as u64)?;
        let starts = (position(start)?..).step_by(PAGE);
        starts.zip(data.chunks(PAGE)).for_each(|(start, page)| self.change(Change::Write(start, page.to_vec())));
        Ok(())
    }

    fn sync(&mut self) {
        while self.sync_first() {}
    }

    /// Makes the first change durable if there is one.
    fn sync_first(&mut self) -> bool {
        let Some(change) = self.unsynced.pop_front() else { return false };
        change.apply(&mut self.durable);
        self.unsynced_bytes -= change.bytes();
        true
    }

    /// Sets the content to one that may be on the disk after a cut. Returns how many bytes differ.
    fn restore(&mut self, random: &mut SeededRng) -> usize {
        if self.unsynced.is_empty() && self.current == self.durable {
            return 0;
        }
        let changes = self.unsynced.len();
        // How many changes the size contains, and how many each sector.
        let in_size = Keep::choose(random).count(changes, random);
        let keep = Keep::choose(random);
        let mut in_sectors = HashMap::new();
        let mut size = self.durable.len();
        for (number, change) in self.unsynced.drain(..).enumerate() {
            match change {
                Change::Shrink(new) if number < in_size => {
                    resize(&mut self.durable, new);
                    size = new;
                }
                Change::Shrink(_) => break,
                Change::Grow(new) if number < in_size => size = size.max(new),
                Change::Grow(_) => {}
                Change::Write(mut start, data) => {
                    if number < in_size {
                        size = size.max(start + data.len());
                    }
                    let mut rest = data.as_slice();
                    while !rest.is_empty() {
                        let (part, after) = rest.split_at(rest.len().min(SECTOR - start % SECTOR));
                        let in_sector = in_sectors.entry(start / SECTOR);
                        if number < *in_sector.or_insert_with(|| keep.count(changes, random)) {
                            write(&mut self.durable, start, part);
                        }
                        start += part.len();
                        rest = after;
                    }
                }
            }
        }
        resize(&mut self.durable, size);
        self.unsynced_bytes = 0;
        let sectors = self.current.chunks(SECTOR).zip(self.durable.chunks(SECTOR)).filter(|(old, new)| old != new);
        let differing = sectors.flat_map(|(old, new)| old.iter().zip(new)).filter(|(old, new)| old != new).count();
        let bytes = differing + self.current.len().abs_diff(size);
        self.current.clone_from(&self.durable);
        bytes
    }
}

impl State {
    fn inode(&mut self, number: u64) -> Result<&mut Inode, Errno> {
        self.inodes.get_mut(&number).ok_or(Errno::ENOENT)
    }

    fn find(&self, folder: u64, name: &OsStr) -> Result<u64, Errno> {
        self.names.get(&(folder, name.to_owned())).copied().ok_or(Errno::ENOENT)
    }

    fn entries(&self, folder: u64) -> impl Iterator<Item = (&OsString, u64)> {
        let from_first = self.names.range((folder, OsString::new())..);
        from_first.take_while(move |((parent, _), _)| *parent == folder).map(|((_, name), number)| (name, *number))
    }

    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    fn create(&mut self, folder: u64, name: &OsStr, mut inode: Inode) -> Result<FileAttr, Errno> {
        let number = self.next_number();
        inode.attributes.ino = INodeNo(number);
        self.inodes.insert(number, inode);
        self.link(number, folder, name)
    }

    fn link(&mut self, number: u64, folder: u64, name: &OsStr) -> Result<FileAttr, Errno> {
        self.inode(number)?;
        self.change_names(vec![((folder, name.to_owned()), Some(number))]);
        Ok(self.inode(number)?.attributes())
    }

    fn remove(&mut self, folder: u64, name: &OsStr) -> Result<(), Errno> {
        let number = self.find(folder, name)?;
        if self.entries(number).next().is_some() {
            return Err(Errno::ENOTEMPTY);
        }
        self.change_names(vec![((folder, name.to_owned()), None)]);
        Ok(())
    }

    fn rename(&mut self, from: Name, to: Name, flags: RenameFlags) -> Result<(), Errno> {
        let number = self.find(from.0, &from.1)?;
        let replaced = self.find(to.0, &to.1).ok();
        match replaced {
            Some(_) if flags == RenameFlags::RENAME_NOREPLACE => return Err(Errno::EEXIST),
            Some(replaced) if self.entries(replaced).next().is_some() => return Err(Errno::ENOTEMPTY),
            _ if (flags - RenameFlags::RENAME_NOREPLACE).is_empty() => {}
            _ => return Err(Errno::EINVAL),
        }
        self.change_names(vec![(from, None), (to, Some(number))]);
        Ok(())
    }

    /// Changes names, in the journal too.
    fn change_names(&mut self, changes: Vec<(Name, Option<u64>)>) {
        // First, so that an inode that only moves is not deleted.
        for inode in changes.iter().filter_map(|(_, number)| *number) {
            self.refer(inode, 1, 1);
        }
        for (name, number) in &changes {
            if let Ok(folder) = self.inode(name.0) {
                folder.touch();
            }
            if let Some(replaced) = replace(&mut self.names, name.clone(), *number) {
                self.refer(replaced, -1, 0);
            }
        }
        self.journal.push_back(changes);
        if self.journal.len() > MAX_UNSYNCED_NAMES {
            self.commit(1);
        }
    }

    /// Changes how many names and other references an inode has, and deletes it when there are none.
    fn refer(&mut self, number: u64, names: i32, references: i32) {
        if let Some(inode) = self.inodes.get_mut(&number) {
            inode.attributes.nlink = inode.attributes.nlink.saturating_add_signed(names);
            inode.references = inode.references.saturating_add_signed(references);
            if inode.attributes.nlink == 0 && inode.references == 0 {
                self.inodes.remove(&number);
            }
        }
    }

    /// Makes the first changes of names durable.
    fn commit(&mut self, count: usize) {
        let changes: Vec<_> = self.journal.drain(..count).flatten().collect();
        for (name, number) in changes {
            if let Some(replaced) = replace(&mut self.durable, name, number) {
                self.refer(replaced, 0, -1);
            }
        }
    }

    fn sync_folder(&mut self, folder: u64) {
        let is_there = |changes: &Vec<(Name, _)>| changes.iter().any(|((parent, _), _)| *parent == folder);
        self.commit(self.journal.iter().rposition(is_there).map_or(0, |last| last + 1));
    }

    /// The paths of all files and folders, except of the root.
    fn paths(&self) -> HashMap<u64, PathBuf> {
        let (mut paths, mut folders) = (HashMap::new(), vec![(ROOT, PathBuf::new())]);
        while let Some((folder, path)) = folders.pop() {
            for (name, number) in self.entries(folder) {
                let path = path.join(name);
                if paths.insert(number, path.clone()).is_none() {
                    folders.push((number, path));
                }
            }
        }
        paths
    }

    /// Opens a file and returns the handle.
    fn open(&mut self, file: u64) -> Result<u64, Errno> {
        self.inode(file)?.references += 1;
        let handle = self.next_number();
        self.open.insert(handle, file);
        Ok(handle)
    }

    fn close(&mut self, handle: u64) {
        self.failed.remove(&handle);
        if let Some(file) = self.open.remove(&handle) {
            self.refer(file, 0, -1);
        }
    }

    fn sync_file(&mut self, file: u64, handle: u64) -> Result<(), Errno> {
        self.inode(file)?.sync();
        if self.failed.remove(&handle) { Err(Errno::EIO) } else { Ok(()) }
    }

    fn lose_unsynced(&mut self, file: u64) {
        if let Ok(inode) = self.inode(file) {
            inode.unsynced.clear();
            inode.unsynced_bytes = 0;
        }
        self.failed.extend(self.open.iter().filter(|(_, open)| **open == file).map(|(handle, _)| handle));
    }

    /// The entries of an open folder from a position.
    fn list(&mut self, folder: u64, handle: u64, start: u64) -> Result<Vec<Entry>, Errno> {
        if start == 0 {
            let own = [".", ".."].map(|name| (folder, FileType::Directory, name.into()));
            let kind = |number| self.inodes.get(&number).map_or(FileType::RegularFile, |inode| inode.attributes.kind);
            let entries = self.entries(folder).map(|(name, number)| (number, kind(number), name.clone()));
            let listing = own.into_iter().chain(entries).collect();
            self.listings.insert(handle, listing);
        }
        let listing = self.listings.get(&handle).ok_or(Errno::EBADF)?;
        Ok(listing.iter().skip(position(start)?).cloned().collect())
    }

    fn restore(&mut self, random: &mut SeededRng) -> Losses {
        self.is_on = true;
        self.boot += 1;
        self.listings.clear();
        self.open.clear();
        self.failed.clear();
        let unsynced = self.journal.len();
        let written_count = Keep::choose(random).count(unsynced, random);
        let mut losses = Losses { names: unsynced - written_count, ..Losses::default() };
        let paths = self.paths();
        self.commit(written_count);
        self.journal.clear();
        self.names.clone_from(&self.durable);
        for (number, inode) in &mut self.inodes {
            let bytes = inode.restore(random);
            if let (true, Some(path)) = (bytes > 0, paths.get(number)) {
                losses.bytes.insert(path.clone(), bytes);
            }
            inode.attributes.nlink = 0;
            inode.references = 0;
        }
        for number in self.durable.clone().into_values() {
            self.refer(number, 1, 1);
        }
        self.inodes.retain(|number, inode| inode.references > 0 || *number == ROOT);
        losses
    }
}

fn replace(names: &mut Names, name: Name, number: Option<u64>) -> Option<u64> {
    match number {
        Some(number) => names.insert(name, number),
        None => names.remove(&name),
    }
}

/// How much of what was not synced survives a cut.
#[derive(Clone, Copy)]
enum Keep {
    Nothing,
    Some,
    /// All, or all but the last change.
    Most,
}

impl Keep {
    fn choose(random: &mut SeededRng) -> Self {
        match random.below(3) {
            0 => Self::Nothing,
            1 => Self::Some,
            _ => Self::Most,
        }
    }

    /// How many of the changes survive.
    fn count(self, changes: usize, random: &mut SeededRng) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Some => up_to(changes, random),
            Self::Most => changes.saturating_sub(up_to(1, random)),
        }
    }
}

fn up_to(max: usize, random: &mut SeededRng) -> usize {
    random.below(max as u64 + 1) as usize
}

fn position(number: u64) -> Result<usize, Errno> {
    if number > MAX_SIZE {
        return Err(Errno::EFBIG);
    }
    usize::try_from(number).map_err(|_| Errno::EFBIG)
}

fn permissions(mode: u32) -> u16 {
    (mode & 0o7777) as u16
}

#[expect(clippy::disallowed_methods, reason = "programs compare the times of files with those of the system")]
fn now() -> SystemTime {
    SystemTime::now()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const FILE: FileType = FileType::RegularFile;

    impl Disk {
        fn create(&self, folder: u64, name: &str, kind: FileType) -> u64 {
            let created = self.state().create(folder, OsStr::new(name), Inode::new(kind, 0o644, 0, 0));
            created.unwrap().ino.0
        }

        fn write(&self, file: u64, start: u64, data: &[u8]) {
            self.state().inode(file).unwrap().write(start, data).unwrap();
        }

        fn rename(&self, from: &str, to: &str) {
            let [from, to] = [from, to].map(|name| (ROOT, name.into()));
            self.state().rename(from, to, RenameFlags::empty()).unwrap();
        }

        fn sync_file(&self, file: u64) {
            self.state().inode(file).unwrap().sync();
        }

        fn names(&self, folder: u64) -> Vec<String> {
            self.state().entries(folder).map(|(name, _)| name.to_str().unwrap().to_owned()).collect()
        }

        fn content(&self, name: &str) -> Option<Vec<u8>> {
            let mut state = self.state();
            let number = state.find(ROOT, OsStr::new(name)).ok()?;
            Some(state.inode(number).unwrap().current.clone())
        }
    }

    /// What is on a disk after cuts with many seeds.
    fn outcomes<T: Ord>(fill: impl Fn(&Disk), outcome: impl Fn(&Disk, Losses) -> T) -> BTreeSet<T> {
        let restored = |seed| {
            let disk = Disk::new();
            fill(&disk);
            disk.cut();
            let losses = disk.restore(seed);
            outcome(&disk, losses)
        };
        (0..2000).map(restored).collect()
    }

    /// The contents after cuts of a file with a durable name and durable content, to which changes are made.
    fn contents(durable: &[u8], change: impl Fn(&mut Inode)) -> BTreeSet<Vec<u8>> {
        let fill = |disk: &Disk| {
            let file = disk.create(ROOT, "file", FILE);
            disk.write(file, 0, durable);
            disk.sync_file(file);
            disk.state().sync_folder(ROOT);
            change(disk.state().inode(file).unwrap());
        };
        outcomes(fill, |disk, _| disk.content("file").unwrap())
    }

    #[test]
    fn synced_writes_are_kept() {
        let change = |file: &mut Inode| {
            file.write(1000, b"new").unwrap();
            file.sync();
        };
        assert_eq!(contents(&[b'o'; 1000], change), [[&[b'o'; 1000][..], b"new"].concat()].into());
    }

    #[test]
    fn other_writes_are_kept_by_sectors() {
        let sectors = |contents: &str| contents.bytes().flat_map(|byte| [byte; SECTOR]).collect::<Vec<_>>();
        let outcomes = contents(&sectors("aaa"), |file| {
            file.write(0, &sectors("bb")).unwrap();
            file.write(SECTOR as u64, &sectors("cc")).unwrap();
        });
        let mut possible = BTreeSet::new();
        for first in ["a", "b"] {
            for second in ["a", "b", "c"] {
                possible.extend(["a", "c"].map(|third| sectors(&[first, second, third].concat())));
            }
        }
        assert_eq!(outcomes, possible);
    }

    #[test]
    fn new_sectors_may_be_zeros() {
        let outcomes = contents(b"", |file| {
            file.write(0, &[b'a'; PAGE]).unwrap();
            file.write(PAGE as u64, b"b").unwrap();
        });
        let sizes: BTreeSet<usize> = outcomes.iter().map(Vec::len).collect();
        assert_eq!(sizes, [0, PAGE, PAGE + 1].into());
        assert!(outcomes.contains(&vec![0; PAGE + 1]));
        assert!(outcomes.contains(&[&[b'a'; PAGE][..], b"b"].concat()));
        assert!(outcomes.iter().any(|content| content.ends_with(b"b") && content.contains(&0)));
        let is_whole = |sector: &[u8]| sector.iter().all(|byte| byte == &sector[0]);
        assert!(outcomes.iter().all(|content| content.chunks(SECTOR).all(is_whole)));
    }

    #[test]
    fn writes_do_not_survive_without_an_earlier_truncation() {
        let outcomes = contents(b"old", |file| {
            file.resize(0).unwrap();
            file.write(0, b"n").unwrap();
            file.write(1, b"ew").unwrap();
        });
        let possible = ["old", "", "\0", "n", "\0\0\0", "n\0\0", "new"];
        assert_eq!(outcomes, possible.map(|content| content.as_bytes().to_vec()).into());
    }

    #[test]
    fn names_survive_in_their_order() {
        let fill = |disk: &Disk| {
            disk.create(ROOT, "a", FILE);
            disk.create(ROOT, "b", FILE);
            disk.rename("a", "b");
            disk.state().remove(ROOT, OsStr::new("b")).unwrap();
        };
        let actual = outcomes(fill, |disk, losses| (losses.names, disk.names(ROOT).concat()));
        let possible = [(4, ""), (3, "a"), (2, "ab"), (1, "b"), (0, "")];
        assert_eq!(actual, possible.map(|(lost, names)| (lost, names.to_owned())).into());
    }

    #[test]
    fn a_file_that_did_not_grow_may_have_later_writes() {
        let actual = contents(b"old", |file| {
            file.resize(5).unwrap();
            file.write(0, b"new").unwrap();
        });
        assert_eq!(actual, ["old", "new", "old\0\0", "new\0\0"].map(|content| content.as_bytes().to_vec()).into());
    }

    #[test]
    fn the_sync_of_a_folder_keeps_its_names_and_earlier_ones() {
        let fill = |disk: &Disk| {
            let folder = disk.create(ROOT, "folder", FileType::Directory);
            disk.create(ROOT, "before", FILE);
            disk.create(folder, "inner", FILE);
            let after = disk.create(ROOT, "other", FILE);
            disk.sync_file(after);
            disk.state().sync_folder(folder);
        };
        let actual = outcomes(fill, |disk, _| disk.names(ROOT).join(" "));
        assert_eq!(actual, ["before folder", "before folder other"].map(ToOwned::to_owned).into());
    }

    #[test]
    fn a_file_that_is_renamed_without_sync_may_lose_its_content() {
        let fill = |disk: &Disk| {
            let file = disk.create(ROOT, "temporary", FILE);
            disk.write(file, 0, b"content");
            disk.rename("temporary", "final");
            disk.state().sync_folder(ROOT);
        };
        let actual = outcomes(fill, |disk, losses| (disk.content("final").unwrap(), losses.bytes));
        let lost = || BTreeMap::from([(PathBuf::from("final"), 7)]);
        assert_eq!(actual, [(vec![], lost()), (vec![0; 7], lost()), (b"content".to_vec(), BTreeMap::new())].into());
    }

    #[test]
    fn removed_files_are_deleted_when_nothing_needs_them() {
        let disk = Disk::new();
        let file = disk.create(ROOT, "file", FILE);
        disk.write(file, 0, b"content");
        disk.sync_file(file);
        disk.state().sync_folder(ROOT);
        disk.state().inode(file).unwrap().references += 1;
        disk.state().remove(ROOT, OsStr::new("file")).unwrap();
        disk.state().refer(file, 0, -1);
        assert_eq!(disk.state().inodes.len(), 2, "the name may come back");
        disk.state().sync_folder(ROOT);
        assert_eq!(disk.state().inodes.len(), 1);
        for number in 0..1000 {
            disk.create(ROOT, "file", FILE);
            disk.rename("file", &(number % 2).to_string());
        }
        assert!(disk.state().inodes.len() < MAX_UNSYNCED_NAMES + 4);
    }

    #[test]
    fn the_memory_of_unsynced_changes_is_bounded() {
        let disk = Disk::new();
        let file = disk.create(ROOT, "file", FILE);
        for _ in 0..100 {
            disk.write(file, 0, &[1; 1 << 20]);
        }
        assert!(disk.state().inode(file).unwrap().unsynced_bytes <= MAX_UNSYNCED_BYTES);
        assert!(disk.state().inode(file).unwrap().write(MAX_SIZE, b"x").is_err());
    }

    #[test]
    fn a_seed_repeats_its_choices() {
        let fill = |disk: &Disk| {
            for name in ["a", "b", "c"] {
                let file = disk.create(ROOT, name, FILE);
                (0..50).for_each(|number| disk.write(file, number * 100, &[number as u8; 300]));
            }
        };
        let contents = |disk: &Disk| ["a", "b", "c"].map(|name| disk.content(name));
        let [first, second] = [(); 2].map(|()| {
            let disk = Disk::new();
            fill(&disk);
            (disk.restore(7), contents(&disk))
        });
        assert_eq!(first, second);
    }

    /// Stores a file in a mounted disk, synced or not, and returns whether it has its content after a cut.
    fn is_kept(sync: bool, seed: u64) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::new();
        let mounted = disk.mount(folder.path()).expect("mounting needs root and /dev/fuse");
        let path = folder.path().join("file");
        std::fs::write(&path, [b'x'; 5_000]).unwrap();
        if sync {
            std::fs::File::open(&path).unwrap().sync_all().unwrap();
            std::fs::File::open(folder.path()).unwrap().sync_all().unwrap();
        }
        disk.cut();
        assert!(std::fs::write(&path, b"later").is_err());
        drop(mounted);
        disk.restore(seed);
        let _mounted = disk.mount(folder.path()).unwrap();
        std::fs::read(&path).is_ok_and(|content| content == [b'x'; 5_000])
    }

    #[test]
    fn a_mounted_disk_keeps_what_programs_sync() {
        assert!((0..20).all(|seed| is_kept(true, seed)));
        let kept_count = (0..20).filter(|seed| is_kept(false, *seed)).count();
        assert!((1..15).contains(&kept_count), "{kept_count} of 20");
    }

    #[test]
    fn what_could_not_be_written_is_reported_once_to_each_handle_and_lost() {
        let disk = Disk::new();
        let file = disk.create(ROOT, "file", FILE);
        disk.sync();
        let [first, second] = [(); 2].map(|()| disk.state().open(file).unwrap());
        disk.write(file, 0, b"lost");
        disk.lose_unsynced(Path::new("file")).unwrap();
        let later = disk.state().open(file).unwrap();
        disk.write(file, 4, b" and more");
        let sync = |handle| disk.state().sync_file(file, handle).is_ok();
        assert_eq!([first, second, later, first].map(sync), [false, false, true, true]);
        assert_eq!(disk.content("file"), Some(b"lost and more".to_vec()));
        let losses = disk.restore(1);
        assert_eq!(losses.bytes, BTreeMap::from([(PathBuf::from("file"), 4)]));
        assert_eq!(disk.content("file"), Some(b"\0\0\0\0 and more".to_vec()));
        assert!(disk.lose_unsynced(Path::new("missing")).is_err());
    }

    #[test]
    fn everything_can_be_made_durable() {
        let disk = Disk::new();
        let file = disk.create(ROOT, "file", FILE);
        disk.write(file, 0, b"content");
        disk.sync();
        assert_eq!((disk.restore(1), disk.content("file")), (Losses::default(), Some(b"content".to_vec())));
    }
}
