//! Blob storages: a local folder, and an S3-compatible bucket, both accessed through object_store.
//!
//! - [`LocalBlobs`] (`local.rs`): a blob is a file `<workspace>/<attachment>` in the folder. The file gets this name
//!   once all of it is on the disk.
//! - [`S3Blobs`] (`s3.rs`): a blob is an object `<prefix>/<workspace>/<attachment>`. Clients download it from the
//!   bucket directly, with a presigned URL that expires.
//!
//! Not here: business rules. Names, types, sizes and checksums of files belong to the domain, and its sweep determines
//! which blobs are orphaned.
//!
//! Invariant: a blob is complete or absent, and the memory of an upload does not depend on its size.

mod errors;
mod local;
mod s3;

pub use errors::SettingError;
pub use local::LocalBlobs;
pub use s3::S3Blobs;
