//! Imports by a command: the input is read into a folder, from which a run is loaded.
//!
//! - [`source`]: the programs whose files can be imported.
//! - [`inspect`]: looks into uploaded files.
//! - [`reading`]: reads the input.
//! - [`staging`]: what the readers of sources give, checked, cleaned and sorted, as files of the folder.
//! - [`report`]: what is said about a run, and the files that say it.
//! - [`folders`]: where the files of runs are, and for how long.
//! - [`restore`]: restores an export.
//! - [`load`]: writes the records of the folder, batch after batch.
//! - [`progress`]: shows how far it is.
//! - [`turns`]: lets others write between batches.
//! - [`undo`]: deletes what a run has made.

pub(crate) mod folders;
pub(crate) mod inspect;
pub(crate) mod load;
pub(crate) mod progress;
pub(crate) mod reading;
pub(crate) mod report;
pub(crate) mod restore;
pub(crate) mod source;
pub(crate) mod staging;
pub(crate) mod turns;
pub(crate) mod undo;
