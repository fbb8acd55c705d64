//! Readers of the files of an import: files in, records out.
//!
//! Nothing here knows a database or a runtime, and memory is bounded whatever the size of the input.
//!
//! | Module | Question |
//! |---|---|
//! | [`archive`] | Which files does an input have, and is it safe to read them? |
//! | [`encoding`] | How do the bytes of a file become text? |
//! | [`table`] | Which records does a CSV have? |
//! | [`json`] | Which records does a JSON file have? |
//! | [`dates`] | Which time does a text mean? |
//! | [`records`] | What is a feature request, vote or comment of any source? |
//! | [`sources`] | Which records do the files of a program have? |

pub mod archive;
pub mod dates;
pub mod encoding;
pub mod json;
pub mod records;
pub mod sources;
pub mod table;
mod visible;

pub use visible::visible;
