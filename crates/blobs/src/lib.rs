//! The blob storages: a folder of this machine, and a bucket that speaks S3, both reached through
//! object_store.
//!
//! - [`LocalBlobs`] (`local.rs`): a blob is a file `<workspace>/<attachment>` below the folder. It
//!   takes that name when all of it is on the disk.
//! - [`S3Blobs`] (`s3.rs`): a blob is an object `<prefix>/<workspace>/<attachment>`. Clients get it
//!   from the bucket itself, by a link that expires.
//!
//! Not here: any decision about files. Names, types, sizes and checksums belong to the domain; which
//! blobs nobody needs is for its sweep to say.
//!
//! Invariant: a blob is whole or not there, and an upload takes the same memory however large it is.

mod errors;
mod local;
mod s3;

pub use errors::SettingError;
pub use local::LocalBlobs;
pub use s3::S3Blobs;
