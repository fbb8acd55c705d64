//! Imports by a command: the input is read into a folder, from which a run is loaded.
//!
//! - [`staging`]: what the readers of sources give, checked, cleaned and sorted, as files of the folder.
//! - [`report`]: what is said about a run, and the files that say it.
//! - [`load`]: writes the records of the folder, batch after batch.
//! - [`undo`]: deletes what a run has made.

pub(crate) mod load;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod staging;
pub(crate) mod undo;
