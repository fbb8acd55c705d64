//! The files with addresses and names of people: mails, folders of import runs, and the list of erasures.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mailparse::ParsedMail;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::Attachment;
use roadmap_domain::model::id::{CustomerId, ImportId, WorkspaceId, parse_uuid};
use roadmap_domain::model::person::{ErasedTexts, ErasedVotes, ErasureRecord, UnfinishedErasure};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::erasing::PersonWords;
use roadmap_domain::ports::PersonalFiles;
use roadmap_import::archive::{self, Limits};
use serde::{Deserialize, Serialize};

use crate::import::folders;
use crate::import::inspect::fetch;
use crate::ownership;
use crate::settings::{Mail, Settings};

/// The name of the list of erasures in the data folder. No backup has it.
const ERASURES: &str = "erasures.jsonl";

/// How many bytes of a file are searched at a time, and how many of them again with the next ones: more than a word has.
const PIECE: usize = 1024 * 1024;
const OVERLAP: usize = 4_096;

/// How long a folder that is being read into is left alone after its last change.
const READING: Duration = Duration::from_secs(600);

/// The files of this process.
#[derive(Debug, Clone)]
pub(crate) struct Folders {
    data_dir: PathBuf,
    mail: Option<PathBuf>,
    /// The storage of files. `None`: only the folders are looked at.
    blobs: Option<Blobs>,
}

/// A storage, which is not shown.
#[derive(Clone)]
struct Blobs(Arc<dyn roadmap_domain::ports::Blobs>);

impl std::fmt::Debug for Blobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Blobs(…)")
    }
}

/// A line of the list of erasures.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Line {
    workspace: String,
    id: String,
    digest: String,
    votes: ErasedVotes,
    texts: ErasedTexts,
    erased_at: String,
}

impl Folders {
    pub(crate) fn new(settings: &Settings) -> Self {
        let mail = match &settings.mail {
            Mail::Folder(folder, _) => Some(folder.clone()),
            Mail::Smtp(_) => None,
        };
        Self { data_dir: settings.data_dir.clone(), mail, blobs: None }
    }

    /// Looks at files of a storage, too.
    pub(crate) fn with_storage(self, blobs: Arc<dyn roadmap_domain::ports::Blobs>) -> Self {
        Self { blobs: Some(Blobs(blobs)), ..self }
    }

    /// Whether a file of the storage has words. One that is not there has none.
    async fn storage_mentions(&self, file: &Attachment, words: &PersonWords) -> anyhow::Result<bool> {
        let Some(Blobs(blobs)) = &self.blobs else { return Ok(false) };
        if blobs.read(file.key, Some(0..0)).await?.is_none() {
            return Ok(false);
        }
        let imports = folders::all(&self.data_dir);
        ownership::create_folder(&imports)?;
        let folder = tempfile::Builder::new().prefix(folders::NEW).tempdir_in(&imports)?;
        let path = fetch(&**blobs, file, folder.path()).await?;
        let words = words.clone();
        let search = move || -> anyhow::Result<bool> {
            let _folder = folder;
            let Ok(inputs) = archive::open(&path, &Limits::default()) else {
                return Ok(contains_words(&path, &words)?);
            };
            for input in inputs {
                if words.are_in(input.name()) || has_words_in(input.open()?, &words)? {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        tokio::task::spawn_blocking(search).await?
    }

    /// Returns the listed erasures, oldest first. A line that a crash has cut is left out.
    pub(crate) fn listed_erasures(&self) -> io::Result<Vec<(WorkspaceId, ErasureRecord)>> {
        let file = match File::open(self.data_dir.join(ERASURES)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            opened => opened?,
        };
        let mut erasures = Vec::new();
        for line in BufReader::new(file).lines() {
            let Ok(line) = serde_json::from_str::<Line>(&line?) else { continue };
            let Some(at) = Timestamp::parse(&line.erased_at) else { continue };
            let Line { workspace, id, digest, votes, texts, .. } = line;
            let (Ok(workspace), Ok(id)) = (parse_uuid("workspace", &workspace), parse_uuid("id", &id)) else {
                continue;
            };
            let record = ErasureRecord { id: CustomerId::new(id), digest, votes, texts, at };
            erasures.push((WorkspaceId::new(workspace), record));
        }
        Ok(erasures)
    }

    /// Adds an erasure to the list, unless it is there.
    fn list(&self, workspace: WorkspaceId, record: &ErasureRecord) -> io::Result<()> {
        let is_listed = |(of, listed): &(WorkspaceId, ErasureRecord)| *of == workspace && listed.id == record.id;
        if self.listed_erasures()?.iter().any(is_listed) {
            return Ok(());
        }
        ownership::create_folder(&self.data_dir)?;
        let path = self.data_dir.join(ERASURES);
        let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path)?;
        ownership::adopt(&path);
        let line = Line {
            workspace: workspace.to_string(),
            id: record.id.to_string(),
            digest: record.digest.clone(),
            votes: record.votes,
            texts: record.texts,
            erased_at: record.at.to_string(),
        };
        // The line break before it ends a line that a crash has cut.
        writeln!(file, "\n{}", serde_json::to_string(&line)?)?;
        file.sync_all()
    }

    /// Deletes the mails that have words.
    fn delete_mails(&self, words: &PersonWords) -> io::Result<()> {
        let Some(folder) = &self.mail else { return Ok(()) };
        for path in entries(folder)? {
            if path.extension().is_some_and(|extension| extension == "eml") && has_words(&fs::read(&path)?, words) {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }

    /// Deletes the folders of runs that have words, apart from those at work. Returns whether there are none any more.
    fn delete_runs(&self, words: &PersonWords, running: &[ImportId]) -> io::Result<bool> {
        let running: Vec<String> = running.iter().map(ToString::to_string).collect();
        let mut are_gone = true;
        for folder in entries(&folders::all(&self.data_dir))? {
            if !contains_words(&folder, words)? {
                continue;
            }
            let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let is_read_into = name.starts_with(folders::NEW) && changed_lately(&folder)?;
            if running.contains(&name) || is_read_into {
                are_gone = false;
            } else {
                fs::remove_dir_all(&folder)?;
            }
        }
        Ok(are_gone)
    }
}

#[async_trait]
impl PersonalFiles for Folders {
    async fn erase(
        &self,
        workspace: WorkspaceId,
        erasure: &UnfinishedErasure,
        running: &[ImportId],
    ) -> Result<bool, StoreError> {
        let (folders, erasure, running) = (self.clone(), erasure.clone(), running.to_vec());
        let erase = move || {
            folders.list(workspace, &erasure.record)?;
            let words = PersonWords::from_list(erasure.words);
            folders.delete_mails(&words)?;
            folders.delete_runs(&words, &running)
        };
        let erased = tokio::task::spawn_blocking(erase).await.map_err(|panic| StoreError::Fatal(panic.into()))?;
        erased.map_err(|error| StoreError::Unavailable(error.into()))
    }

    async fn mentions(&self, file: &Attachment, words: &[String]) -> Result<bool, StoreError> {
        let words = PersonWords::from_list(words.to_vec());
        self.storage_mentions(file, &words).await.map_err(|error| StoreError::Unavailable(error.into()))
    }
}

/// Returns what is in a folder. Nothing if there is none.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.map(|entry| Ok(entry?.path())).collect(),
    }
}

/// Whether a mail has words: in a header, or in a part.
fn has_words(mail: &[u8], words: &PersonWords) -> bool {
    fn in_part(part: &ParsedMail<'_>, words: &PersonWords) -> bool {
        part.headers.iter().any(|header| words.are_in(&header.get_value()))
            || part.get_body().is_ok_and(|body| words.are_in(&body))
            || part.subparts.iter().any(|part| in_part(part, words))
    }
    words.are_in(&String::from_utf8_lossy(mail)) || mailparse::parse_mail(mail).is_ok_and(|mail| in_part(&mail, words))
}

/// Whether a file, or one in a folder, has words. A text in UTF-16 is one with zero bytes in between.
fn contains_words(path: &Path, words: &PersonWords) -> io::Result<bool> {
    if path.is_dir() {
        for entry in entries(path)? {
            if contains_words(&entry, words)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    has_words_in(File::open(path)?, words)
}

/// Whether what is read has words.
fn has_words_in(mut content: impl Read, words: &PersonWords) -> io::Result<bool> {
    let mut piece = Vec::new();
    loop {
        let kept = piece.len().saturating_sub(OVERLAP);
        piece.drain(..kept);
        if content.by_ref().take(PIECE as u64).read_to_end(&mut piece)? == 0 {
            return Ok(false);
        }
        let text: Vec<u8> = piece.iter().copied().filter(|byte| *byte != 0).collect();
        // Quotation marks and backslashes are escaped in JSON.
        let text = String::from_utf8_lossy(&text).replace("\\\"", "\"").replace("\\\\", "\\");
        if words.are_in(&text) {
            return Ok(true);
        }
    }
}

fn changed_lately(folder: &Path) -> io::Result<bool> {
    Ok(fs::metadata(folder)?.modified()?.elapsed().is_ok_and(|age| age < READING))
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn words() -> PersonWords {
        PersonWords::from_list(vec!["ann@a.example".to_owned(), "Ánn \"A\" Lee".to_owned()])
    }

    #[test]
    fn words_are_found_in_every_encoding_of_a_mail() {
        let mail = |header: &str, body: &str| format!("To: {header}\r\nSubject: x\r\n{body}");
        let quoted = "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
                      by =C3=81nn \"A\" =\r\nLee\r\n";
        // `by Ánn "A" Lee`
        let base64 = "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n\
                      Ynkgw4FubiAiQSIgTGVl\r\n";
        for (mail, expected) in [
            (mail("ann@a.example", "\r\nhello"), true),
            (mail("=?utf-8?b?w4FubiAiQSIgTGVl?= <x@x.example>", "\r\nhello"), true),
            (mail("x@x.example", quoted), true),
            (mail("x@x.example", base64), true),
            (mail("joann@a.example", "\r\nhello"), false),
        ] {
            assert_eq!(has_words(mail.as_bytes(), &words()), expected, "{mail}");
        }
    }

    #[test]
    fn words_are_found_in_files_of_any_size_and_in_utf_16() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let utf_16: Vec<u8> = "to ann@a.example.".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let across = [vec![b' '; PIECE - 5], b"ann@a.example".to_vec()].concat();
        let json = serde_json::to_vec(&["Ánn \"A\" Lee"]).unwrap();
        for (content, expected) in
            [(b"nobody".to_vec(), false), (utf_16, true), (across, true), (json, true), (Vec::new(), false)]
        {
            fs::write(&file, content).unwrap();
            assert_eq!(contains_words(folder.path(), &words()).unwrap(), expected);
        }
    }

    #[test]
    fn erasures_are_listed_once_and_folders_of_runs_at_work_stay() {
        let data = tempfile::tempdir().unwrap();
        let folders = Folders { data_dir: data.path().to_owned(), mail: Some(data.path().join("mail")), blobs: None };
        assert_eq!(folders.listed_erasures().unwrap().len(), 0);
        let record = ErasureRecord {
            id: CustomerId::new(Uuid::from_u128(7)),
            digest: "digest".to_owned(),
            votes: ErasedVotes::Drop,
            texts: ErasedTexts::Remove,
            at: Timestamp::from_millis(1_000).unwrap(),
        };
        let workspace = WorkspaceId::new(Uuid::from_u128(1));
        fs::write(data.path().join(ERASURES), "{\"cut\"").unwrap();
        for _ in 0..2 {
            folders.list(workspace, &record).unwrap();
            assert_eq!(folders.listed_erasures().unwrap(), [(workspace, record.clone())]);
        }
        let (at_work, ended) = (ImportId::new(Uuid::from_u128(2)), ImportId::new(Uuid::from_u128(3)));
        for run in [at_work, ended] {
            fs::create_dir_all(folders::of(data.path(), run)).unwrap();
            fs::write(folders::of(data.path(), run).join("problems.csv"), "ANN@A.EXAMPLE").unwrap();
        }
        let is_there = |run| folders::of(data.path(), run).exists();
        assert!(!folders.delete_runs(&words(), &[at_work]).unwrap());
        assert!(is_there(at_work) && !is_there(ended));
        assert!(folders.delete_runs(&words(), &[]).unwrap());
        assert!(!is_there(at_work));
        fs::create_dir(data.path().join("mail")).unwrap();
        fs::write(data.path().join("mail/a.eml"), "To: ann@a.example\r\n\r\n").unwrap();
        fs::write(data.path().join("mail/b.eml"), "To: bob@a.example\r\n\r\n").unwrap();
        folders.delete_mails(&words()).unwrap();
        assert!(!data.path().join("mail/a.eml").exists() && data.path().join("mail/b.eml").exists());
    }
}
