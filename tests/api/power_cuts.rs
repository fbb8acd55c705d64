//! Power cuts: the data folder is on a disk that loses what was not synced.
//!
//! On PostgreSQL, the disk has only the uploaded files. `outages` cuts the power of its server.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::Scope;
use std::time::Duration;

use roadmap_testkit::disk::{Disk, Mounted};

use crate::app::{App, Client, eventually, files_below, form_with};
use crate::database::ON_POSTGRES;
use crate::effort::{SeededRng, rounds};
use crate::faults::{StoredFiles, write_request};

const WRITERS: usize = 6;
const UPLOADERS: usize = 2;

/// Maximum number of cuts until one loses something.
const MAX_CUTS: u64 = 200;

/// Content of all uploads: several pages.
static CONTENT: [u8; 20_000] = [b'x'; 20_000];

/// A disk that is mounted over a folder, with the folder's content.
///
/// This process serves the disk, so it must not map files of the disk into its memory, as SQLite does: a page fault would
/// wait for itself. What the tests look into is copied below the mount first.
struct MountedDisk {
    disk: Disk,
    folder: PathBuf,
    /// `None` only while the machine is off: dropping it unmounts whatever is mounted on the folder.
    mounted: Option<Mounted>,
}

impl MountedDisk {
    fn over(folder: &Path) -> Self {
        let files = StoredFiles::read(folder);
        let disk = Disk::new();
        let mounted =
            disk.mount(folder).expect("mounting needs root and /dev/fuse (leave it out with `--skip power_cut`)");
        files.write();
        disk.sync();
        Self { disk, folder: folder.to_owned(), mounted: Some(mounted) }
    }

    /// Starts the machine again: the disk has what survived the cut. Meanwhile, without the disk, `examine` finds a copy
    /// of its files in the folder. Returns how many bytes of which files were lost.
    fn restore(&mut self, seed: u64, examine: impl FnOnce()) -> BTreeMap<PathBuf, usize> {
        self.mounted = None;
        let losses = self.disk.restore(seed);
        self.mount();
        self.remove();
        examine();
        self.mount();
        losses.bytes
    }

    fn mount(&mut self) {
        self.mounted = Some(self.disk.mount(&self.folder).expect("the disk is mounted again"));
    }

    /// Unmounts the disk. Its files are in the folder then.
    fn remove(&mut self) {
        let files = StoredFiles::read(&self.folder);
        self.mounted = None;
        for path in files_below(&self.folder) {
            std::fs::remove_file(path).unwrap();
        }
        files.write();
    }
}

/// What the service has acknowledged.
#[derive(Default)]
struct Acknowledged {
    /// The responses of writes, by number.
    writes: Mutex<HashMap<u64, Vec<u8>>>,
    /// The ids of uploads.
    uploads: Mutex<Vec<String>>,
    /// Set before the power is cut. Until then nothing may fail.
    is_cut: AtomicBool,
}

impl Acknowledged {
    /// Starts threads that write until a write fails.
    fn start_writers<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        client: &'scope Client,
        numbers: &'scope AtomicU64,
    ) {
        for _ in 0..WRITERS {
            scope.spawn(|| while self.write(client, numbers.fetch_add(1, Ordering::SeqCst)) {});
        }
    }

    /// Sends all acknowledged writes once more, which must get the same responses.
    fn are_replayed(&self, client: &Client) {
        for (number, response) in &*self.writes.lock().unwrap() {
            let (path, body) = write_request(*number);
            let again = client.send("POST", &path, &body);
            assert_eq!((again.header("Idempotent-Replayed"), &again.bytes), (Some("true"), response), "write {number}");
        }
    }

    /// Sends the write with this number, with its own operation key. Returns whether it was acknowledged.
    fn write(&self, client: &Client, number: u64) -> bool {
        let (path, body) = write_request(number);
        let headers = [("Content-Type", "application/json")];
        let response = client.request("POST", &path, &headers, Some(body.to_string().as_bytes()));
        let Some(response) = response.ok().filter(|response| response.status == 201) else {
            assert!(self.is_cut.load(Ordering::SeqCst), "a write failed before the cut");
            return false;
        };
        self.writes.lock().unwrap().insert(number, response.bytes);
        true
    }

    fn upload(&self, client: &Client, form: &[u8]) -> bool {
        let response = client.try_post_attachment(form);
        let Some(response) = response.filter(|response| response.status == 201) else {
            assert!(self.is_cut.load(Ordering::SeqCst), "an upload failed before the cut");
            return false;
        };
        self.uploads.lock().unwrap().push(response.json()["id"].as_str().unwrap().to_owned());
        true
    }

    fn count(&self) -> usize {
        self.writes.lock().unwrap().len() + self.uploads.lock().unwrap().len()
    }
}

/// Starts a service with a feature request whose data folder is on a disk.
fn start_on_disk() -> (App, MountedDisk) {
    let mut app = App::start();
    app.kill();
    let disk = MountedDisk::over(app.data_dir());
    app.restart();
    app.acme.feature_request("Dark mode");
    (app, disk)
}

/// Cuts the power when it is dropped, so that the writers end in a failed test too.
struct Cut<'a> {
    disk: &'a Disk,
    is_cut: &'a AtomicBool,
}

impl Drop for Cut<'_> {
    fn drop(&mut self) {
        self.is_cut.store(true, Ordering::SeqCst);
        self.disk.cut();
    }
}

/// Whether a file has what the service acknowledged: not its log, and not the memory that connections to SQLite share.
fn has_records(path: &Path) -> bool {
    path != Path::new("server.log") && path.extension().is_none_or(|extension| extension != "db-shm")
}

/// Beyond the contract: a loss of power, or a disk that fails to write, loses no acknowledged write and duplicates
/// none.
/// Beyond the contract: a file is on the disk before its upload is acknowledged, also after a loss of power.
#[test]
fn a_power_cut_loses_no_acknowledged_write_and_no_acknowledged_file() {
    let mut rng = SeededRng::from_env();
    let (mut app, mut disk) = start_on_disk();
    let acknowledged = Acknowledged::default();
    let numbers = AtomicU64::new(0);
    let form = form_with("a.bin", &CONTENT);
    let (mut lost, mut cuts) = (0, 0);
    while cuts < rounds(5, 100) || (lost == 0 && cuts < MAX_CUTS) {
        cuts += 1;
        acknowledged.is_cut.store(false, Ordering::SeqCst);
        let client = app.acme.clone();
        std::thread::scope(|scope| {
            acknowledged.start_writers(scope, &client, &numbers);
            for _ in 0..UPLOADERS {
                scope.spawn(|| while acknowledged.upload(&client, &form) {});
            }
            let cut = Cut { disk: &disk.disk, is_cut: &acknowledged.is_cut };
            let before = acknowledged.count();
            eventually("writes are acknowledged", || acknowledged.count() > before + 20);
            // At a random time while writes are in progress.
            std::thread::sleep(Duration::from_millis(rng.below(80)));
            drop(cut);
            app.kill();
        });
        let losses = disk.restore(rng.below(u64::MAX), || app.data.is_sound());
        lost += losses.iter().filter(|(path, _)| has_records(path)).map(|(_, bytes)| bytes).sum::<usize>();
        app.restart();
    }
    app.kill();
    disk.remove();
    app.restart();

    let uploads = acknowledged.uploads.lock().unwrap().clone();
    println!(
        "{cuts} cuts dropped {lost} bytes of records; {} writes and {} uploads were acknowledged before a cut",
        acknowledged.writes.lock().unwrap().len(),
        uploads.len()
    );
    assert!(lost > 0, "no cut lost anything");
    acknowledged.are_replayed(&app.acme);
    for id in &uploads {
        assert_eq!(app.acme.get_attachment(id).status, 200, "{id}");
    }
    // A row has its file, also without a response.
    for key in app.sql("SELECT key FROM attachments") {
        let file = app.data_dir().join("blobs").join(&key);
        assert_eq!(std::fs::read(&file).ok(), Some(CONTENT.to_vec()), "{key}");
    }
    // What was not acknowledged takes effect once, by a retry.
    let all = numbers.load(Ordering::SeqCst);
    for number in 0..all {
        let (path, body) = write_request(number);
        assert_eq!(app.acme.send("POST", &path, &body).status, 201, "write {number}");
    }
    assert_eq!(app.count("SELECT count(*) FROM operations"), i64::try_from(all).unwrap());
    let votes = (0..all).filter(|number| number % 4 == 0).count();
    assert_eq!(app.count("SELECT count(*) FROM votes"), i64::try_from(votes).unwrap());
    app.data.is_sound();
}

/// Only on SQLite: a server of PostgreSQL does the same by itself.
///
/// Beyond the contract.
#[test]
fn a_disk_that_fails_to_write_ends_the_service_which_loses_nothing() {
    if *ON_POSTGRES {
        return;
    }
    let mut rng = SeededRng::from_env();
    let (mut app, mut disk) = start_on_disk();
    let acknowledged = Acknowledged::default();
    let numbers = AtomicU64::new(0);
    for _ in 0..rounds(2, 50) {
        acknowledged.is_cut.store(false, Ordering::SeqCst);
        let client = app.acme.clone();
        std::thread::scope(|scope| {
            acknowledged.start_writers(scope, &client, &numbers);
            let cut = Cut { disk: &disk.disk, is_cut: &acknowledged.is_cut };
            // Enough for the log to start anew.
            let before = acknowledged.count();
            eventually("writes are acknowledged", || acknowledged.count() > before + 400);
            std::thread::sleep(Duration::from_millis(rng.below(80)));
            acknowledged.is_cut.store(true, Ordering::SeqCst);
            disk.disk.lose_unsynced(Path::new("roadmap.db")).unwrap();
            assert_eq!(app.wait_for_exit().code(), Some(1));
            let log = std::fs::read_to_string(app.data_dir().join("server.log")).unwrap();
            assert!(log.contains("the disk failed to store pages of the database"), "{log}");
            drop(cut);
        });
        app.kill();
        disk.restore(rng.below(u64::MAX), || app.data.is_sound());
        app.restart();
    }
    app.kill();
    disk.remove();
    app.restart();
    println!("{} writes were acknowledged", acknowledged.count());
    acknowledged.are_replayed(&app.acme);
}
