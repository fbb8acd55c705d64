//! An import of many feature requests with their votes, what another workspace notices of it, and their export.

use std::fmt::Write as _;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use super::corpus::Corpus;
use super::workloads::upvote;
use crate::load::{Connection, Latencies, Service, WITHOUT_LIMITS, block_on};
use crate::process::Process;

pub(super) const NAME: &str = "import";

pub(super) const REQUESTS: u64 = 100_000;
const VOTES: u64 = 1_000_000;
/// People who vote in the source.
const VOTERS: u64 = 200_000;
/// Feature requests of the other workspace.
const OTHERS: u64 = 200;

/// Highest seconds with SQLite and with PostgreSQL, highest memory in megabytes, and highest p99 of another workspace's votes
/// meanwhile, as a multiple of that without an import.
const SECONDS_TARGETS: [f64; 2] = [60.0, 120.0];
const MEMORY_TARGET: f64 = 300.0;
const P99_TARGET: f64 = 2.0;

/// Highest seconds and memory in megabytes of an export of what was imported.
const EXPORT_TARGETS: [f64; 2] = [60.0, 100.0];

/// Imports a CSV of feature requests and one of votes while another workspace gets votes, and exports them.
pub(super) fn measure(service: &mut Service, target: usize, quiet_time: Duration) -> anyhow::Result<()> {
    service.start(&WITHOUT_LIMITS)?;
    service.workspace(NAME)?;
    let files = files(service.folder())?;
    let others = Corpus::new(OTHERS, 1_000);
    block_on(async {
        let mut connection = service.connect().await?;
        for number in 0..OTHERS {
            let (method, path, body) = others.create(number);
            connection.expect(method, &path, &body, 201).await?;
        }
        Ok(())
    })?;
    let quiet = {
        let began = Instant::now();
        vote(service, &others, |_| Ok(began.elapsed() < quiet_time))?
    };

    let mut command = service.command();
    command.args(["import", "csv", "--workspace", NAME, "--json"]).args(&files).stderr(Stdio::null());
    let mut import = Running::start(&mut command, "the import")?;
    let [_, server] = service.cpu()?;
    let meanwhile = vote(service, &others, |turn| if turn % 20 == 0 { import.watch() } else { Ok(true) })?;
    let used = import.used;
    let server = service.cpu()?[1].saturating_sub(server).as_secs_f64();
    let mut report = String::new();
    import.output.read_to_string(&mut report)?;
    let report: serde_json::Value = serde_json::from_str(&report).context("the import printed no report")?;
    let new = |kind: &str| report.pointer(&format!("/counts/{kind}/new")).and_then(serde_json::Value::as_u64);
    ensure!(new("feature_requests") == Some(REQUESTS) && new("votes").is_some(), "not all was imported: {report}");
    let votes = new("votes").unwrap_or_default();

    let archive = service.folder().join("export.zip");
    let mut command = service.command();
    command.args(["export", "--workspace", NAME, "--to"]).arg(&archive).stderr(Stdio::null());
    let mut export = Running::start(&mut command, "the export")?;
    while export.watch()? {
        std::thread::sleep(Duration::from_millis(10));
    }
    let exported = export.used;
    let archive_mb = size_of(&[archive])?;

    #[expect(clippy::cast_precision_loss)]
    let rate = (REQUESTS + votes) as f64 / used.seconds;
    let megabytes = size_of(&files)?;
    let seconds_target = SECONDS_TARGETS.get(target).copied().unwrap_or_default();
    let ratio = meanwhile.millis(99) / quiet.millis(99);
    println!("| {NAME} of {REQUESTS} feature requests and {votes} votes ({megabytes:.0} MB) | | target |");
    println!("|---|---:|---:|");
    println!("| seconds | {:.1} | {seconds_target} |", used.seconds);
    println!("| processor seconds | {:.1} | |", used.cpu);
    if service.cluster.is_some() {
        println!("| processor seconds of the database server | {server:.1} | |");
    }
    println!("| feature requests and votes per second | {rate:.0} | |");
    println!("| peak memory, MB | {:.0} | {MEMORY_TARGET} |", used.peak);
    println!("| database, MB | {:.0} | |", service.database_mb()?);
    println!("| another workspace's votes, p99 ms without an import | {:.2} | |", quiet.millis(99));
    println!("| meanwhile | {:.2} | |", meanwhile.millis(99));
    println!("| ratio | {ratio:.2} | {P99_TARGET} |");
    println!("| slowest vote meanwhile, ms | {:.0} | |", meanwhile.millis(100));
    let [export_seconds, export_memory] = EXPORT_TARGETS;
    println!("| export ({archive_mb:.0} MB), seconds | {:.1} | {export_seconds} |", exported.seconds);
    println!("| its processor seconds | {:.1} | |", exported.cpu);
    println!("| its peak memory, MB | {:.0} | {export_memory} |", exported.peak);
    Ok(())
}

/// A command that runs, and what it has used of the machine until it was last watched.
struct Running {
    process: Process,
    output: BufReader<ChildStdout>,
    began: Instant,
    used: Used,
}

#[derive(Default, Clone, Copy)]
struct Used {
    seconds: f64,
    /// User and system processor seconds.
    cpu: f64,
    /// Highest resident memory, in megabytes.
    peak: f64,
}

impl Running {
    fn start(command: &mut Command, name: &str) -> anyhow::Result<Self> {
        let (process, output) = Process::start(command, name)?;
        Ok(Self { process, output, began: Instant::now(), used: Used::default() })
    }

    /// Whether it still runs.
    fn watch(&mut self) -> anyhow::Result<bool> {
        // They are gone once the process has exited.
        let (cpu, peak) = (self.process.cpu().unwrap_or_default(), self.process.peak_mb().unwrap_or_default());
        self.used.cpu = self.used.cpu.max(cpu.as_secs_f64());
        self.used.peak = self.used.peak.max(peak);
        self.used.seconds = self.began.elapsed().as_secs_f64();
        Ok(!self.process.has_exited()?)
    }
}

/// Votes from one connection, one after the other, while it is wanted.
fn vote(
    service: &Service,
    corpus: &Corpus,
    mut is_wanted: impl FnMut(u64) -> anyhow::Result<bool>,
) -> anyhow::Result<Latencies> {
    block_on(async {
        let mut connection: Connection = service.connect().await?;
        let (mut random, mut latencies, mut turn) = (SmallRng::seed_from_u64(1), Vec::new(), 0);
        while is_wanted(turn)? {
            let (method, path, body) = upvote(corpus, &mut random);
            let began = Instant::now();
            connection.expect(method, &path, &body, 201).await?;
            latencies.push(began.elapsed());
            turn += 1;
        }
        Ok(Latencies::from_iter(latencies))
    })
}

/// Writes the feature requests and the votes of the source into a folder.
pub(super) fn files(folder: &Path) -> anyhow::Result<[PathBuf; 2]> {
    let files = ["posts.csv", "votes.csv"].map(|name| folder.join(name));
    write_files(&Corpus::new(REQUESTS, VOTERS), &files)?;
    Ok(files)
}

fn write_files(corpus: &Corpus, [posts, votes]: &[PathBuf; 2]) -> anyhow::Result<()> {
    let create = |path: &Path| std::fs::File::create(path).map(BufWriter::new);
    let mut file = create(posts)?;
    writeln!(file, "id,title,description,tags,status,author_email,created_at")?;
    for number in 0..corpus.requests {
        let (title, description) = corpus.texts(number);
        let status = ["", "planned", "started", "shipped", "declined"].get(usize::try_from(number % 5)?).unwrap_or(&"");
        let mut line = String::new();
        write!(line, "{number},{title},{description},ui|web,{status},voter{}@example.com,", number % VOTERS)?;
        writeln!(file, "{line}2024-{:02}-{:02}T10:00:00Z", 1 + number % 12, 1 + number % 28)?;
    }
    file.flush()?;
    let mut file = create(votes)?;
    writeln!(file, "request_id,email,name,created_at")?;
    for number in 0..VOTES {
        let mut random = SmallRng::seed_from_u64(number);
        let (request, voter) = (random.random_range(0..corpus.requests), random.random_range(0..VOTERS));
        writeln!(file, "{request},voter{voter}@example.com,Voter {voter},2024-06-{:02}", 1 + number % 28)?;
    }
    Ok(file.flush()?)
}

fn size_of(files: &[PathBuf]) -> anyhow::Result<f64> {
    let mut bytes = 0;
    for file in files {
        bytes += std::fs::metadata(file)?.len();
    }
    #[expect(clippy::cast_precision_loss)]
    Ok(bytes as f64 / 1024.0 / 1024.0)
}
