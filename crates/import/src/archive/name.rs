//! Names of files and entries.

use super::ArchiveError;

/// Checks the name of an entry. Returns it without empty parts and `.`.
///
/// # Errors
/// A name that is absolute, has `..`, a backslash or a drive letter, or names nothing.
pub(super) fn clean_name(raw: &str) -> Result<String, ArchiveError> {
    if raw.starts_with('/') {
        return Err(ArchiveError::name(raw, "is an absolute path"));
    }
    if raw.contains('\\') {
        return Err(ArchiveError::name(raw, "contains a backslash"));
    }
    let mut start = raw.chars();
    if start.next().is_some_and(|letter| letter.is_ascii_alphabetic()) && start.next() == Some(':') {
        return Err(ArchiveError::name(raw, "begins with a drive letter"));
    }
    let parts: Vec<&str> = raw.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return Err(ArchiveError::name(raw, "contains `..`"));
    }
    if parts.is_empty() && raw != "./" {
        return Err(ArchiveError::name(raw, "is empty"));
    }
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_inside_of_its_archive() {
        for (raw, clean) in [
            ("posts.csv", "posts.csv"),
            ("a/b/posts.csv", "a/b/posts.csv"),
            ("./a//posts.csv", "a/posts.csv"),
            ("a/", "a"),
            ("./", ""),
            ("..posts..csv", "..posts..csv"),
            ("ab:c.csv", "ab:c.csv"),
            ("über\u{1b}.csv", "über\u{1b}.csv"),
        ] {
            assert_eq!(clean_name(raw).unwrap(), clean, "{raw}");
        }
    }

    #[test]
    fn a_hostile_name_is_refused() {
        for (raw, message) in [
            ("/etc/evil.csv", "the archive is refused: the name of the entry `/etc/evil.csv` is an absolute path"),
            ("../evil.csv", "the archive is refused: the name of the entry `../evil.csv` contains `..`"),
            ("a/../../evil.csv", "the archive is refused: the name of the entry `a/../../evil.csv` contains `..`"),
            ("a/..", "the archive is refused: the name of the entry `a/..` contains `..`"),
            ("a\\b.csv", "the archive is refused: the name of the entry `a\\b.csv` contains a backslash"),
            ("C:evil.csv", "the archive is refused: the name of the entry `C:evil.csv` begins with a drive letter"),
            ("c:/evil.csv", "the archive is refused: the name of the entry `c:/evil.csv` begins with a drive letter"),
            ("", "the archive is refused: the name of the entry `` is empty"),
            ("/\u{1b}[2J", "the archive is refused: the name of the entry `/\u{fffd}[2J` is an absolute path"),
        ] {
            assert_eq!(clean_name(raw).unwrap_err().to_string(), message);
        }
    }
}
