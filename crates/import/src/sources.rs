//! The sources of imports: each turns the files of one program into [`crate::records`].

pub mod astuto;
pub mod canny;
pub mod clearflask;
pub mod csv;
pub mod fider;
pub mod github;
pub mod logchimp;
pub mod quackback;
pub mod uservoice;

mod dump;
#[cfg(test)]
mod kept;
mod names;
mod output;
mod quotes;
mod tables;
