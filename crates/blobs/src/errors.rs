//! Maps object_store's errors to the domain's.

use std::error::Error;
use std::io;

use object_store::client::HttpError;
use roadmap_domain::error::StoreError;
use thiserror::Error;
use tokio::task::JoinError;

/// An error in the settings of a storage.
#[derive(Debug, Error)]
pub enum SettingError {
    /// The URL does not name a bucket.
    #[error("the URL of the storage is not of the form s3://bucket or s3://bucket/prefix")]
    Url,
    /// The `AWS_…` variables contradict each other, or one has an invalid value.
    #[error("the AWS_… variables cannot be used")]
    Variables(#[source] object_store::Error),
    /// There is no Tokio runtime to run the requests on.
    #[error("a storage that is reached over the network must be opened in a Tokio runtime")]
    Runtime(#[from] tokio::runtime::TryCurrentError),
}

impl From<SettingError> for StoreError {
    fn from(error: SettingError) -> Self {
        Self::Fatal(error.into())
    }
}

/// The prefix of object_store's message about a response that is not a success. Its error type is private.
const STATUS: &str = "Server returned non-2xx status code: ";

/// The prefix of object_store's message about a 200 response with an error as its body, after its retries. S3 reports
/// `InternalError` and `SlowDown` in this way.
const LATE_ERROR: &str = "Server returned error response: ";

/// Classifies an error of object_store.
///
/// Failures of the disk, of the network and of a busy S3 are temporary. All others have to be fixed in the service or
/// its settings, including a rejected signature and a missing bucket.
pub(crate) fn store_error(error: object_store::Error) -> StoreError {
    if causes(&error).any(is_temporary) {
        StoreError::Unavailable(error.into())
    } else {
        StoreError::Fatal(error.into())
    }
}

/// Returns the error for a failure of the disk: full, broken, missing, or without permission.
pub(crate) fn disk_error(error: io::Error) -> StoreError {
    StoreError::Unavailable(error.into())
}

/// Returns the error for a task that did not complete: it was cancelled because its runtime ended, or it panicked.
pub(crate) fn task_error(error: JoinError) -> StoreError {
    if error.is_cancelled() { StoreError::Unavailable(error.into()) } else { StoreError::Fatal(error.into()) }
}

/// Returns the error for a use of the port that it does not allow, or for a result that a library never returns.
pub(crate) fn misuse_error(what: &'static str) -> StoreError {
    StoreError::Fatal(what.into())
}

/// Whether the error means that the blob does not exist.
///
/// In a bucket that does not exist, every blob is "not found" as well. That is not a missing blob.
pub(crate) fn is_missing(error: &object_store::Error) -> bool {
    matches!(error, object_store::Error::NotFound { .. })
        && !causes(error).any(|cause| cause.to_string().contains("NoSuchBucket"))
}

/// Returns the error and its causes, outermost first.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

fn is_temporary(cause: &(dyn Error + 'static)) -> bool {
    if cause.is::<io::Error>() || cause.is::<HttpError>() {
        return true;
    }
    if let Some(task) = cause.downcast_ref::<JoinError>() {
        return task.is_cancelled();
    }
    let text = cause.to_string();
    let status = text.strip_prefix(STATUS).and_then(|rest| rest.get(..3));
    text.starts_with(LATE_ERROR)
        || status.is_some_and(|status| matches!(status, "408" | "429") || status.starts_with('5'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s3(message: &str) -> object_store::Error {
        object_store::Error::Generic { store: "S3", source: message.into() }
    }

    fn is_unavailable(error: object_store::Error) -> bool {
        matches!(store_error(error), StoreError::Unavailable(_))
    }

    /// Beyond the contract.
    #[test]
    fn failures_are_classified_by_what_can_be_done_about_them() {
        for status in ["408 Request Timeout", "429 Too Many Requests", "500 Internal Server Error", "503 Slow Down"] {
            assert!(is_unavailable(s3(&format!("{STATUS}{status}: busy"))), "{status}");
        }
        assert!(is_unavailable(s3("Server returned error response: <Code>SlowDown</Code>")));
        for status in ["400 Bad Request", "416 Range Not Satisfiable", ""] {
            assert!(!is_unavailable(s3(&format!("{STATUS}{status}"))), "{status}");
        }
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::ReadOnlyFilesystem, io::ErrorKind::PermissionDenied] {
            let disk = object_store::Error::Generic { store: "local", source: io::Error::from(kind).into() };
            assert!(is_unavailable(disk), "{kind}");
        }
        assert!(!is_unavailable(s3("something new")));
    }

    #[test]
    fn a_missing_bucket_is_not_a_missing_blob() {
        let not_found =
            |body: &str| object_store::Error::NotFound { path: String::new(), source: body.to_owned().into() };
        assert!(is_missing(&not_found("<Code>NoSuchKey</Code>")));
        assert!(!is_missing(&not_found("<Code>NoSuchBucket</Code>")));
        assert!(!is_missing(&s3("")));
    }
}
