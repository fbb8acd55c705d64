//! Errors as an operator reads them.

/// The causes of errors that a client reads, too, but say nothing to an operator.
const FOR_CLIENTS: [&str; 2] =
    ["Service is temporarily unavailable", "Service is temporarily unavailable, the unit of work was undone"];

/// An error with all its causes in one line, each said once.
pub(crate) fn error_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    let mut causes = error.chain().peekable();
    while let Some(cause) = causes.next() {
        let text = cause.to_string();
        let says_nothing = FOR_CLIENTS.contains(&text.as_str()) && causes.peek().is_some();
        // Some libraries repeat their causes in their own text.
        if says_nothing || line.contains(&text) {
            continue;
        }
        if !line.is_empty() {
            line.push_str(": ");
        }
        line.push_str(&text);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{Context, anyhow};
    use roadmap_domain::error::StoreError;

    #[test]
    fn causes_are_said_once_and_without_what_clients_read() {
        let full = || std::io::Error::other("No space left on device (os error 28)");
        let wrapped = anyhow!(full()).context("Unable to write blobs/1: No space left on device (os error 28)");
        assert_eq!(error_line(&wrapped), "Unable to write blobs/1: No space left on device (os error 28)");
        let store = || anyhow::Error::from(StoreError::Unavailable(full().into()));
        assert_eq!(error_line(&store()), "No space left on device (os error 28)");
        let named = store().context("the database roadmap.db cannot be opened");
        assert_eq!(
            error_line(&named),
            "the database roadmap.db cannot be opened: No space left on device (os error 28)"
        );
        // A line that nothing else explains stays.
        let alone = Err::<(), _>(anyhow!("Service is temporarily unavailable")).context("it failed").unwrap_err();
        assert_eq!(error_line(&alone), "it failed: Service is temporarily unavailable");
    }
}
