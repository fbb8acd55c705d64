//! Imports: records of other programs become records here (contract sections 2 to 5).
//!
//! A run reads all of its input before it writes anything. What it writes is written in batches, each of which is a unit of
//! work that also stores how far the run is. Nothing of it sends mail.

pub mod jobs;
pub mod load;
pub mod merges;
pub mod prepare;
pub mod restore;
pub mod run;
pub mod undo;
pub mod uploads;
