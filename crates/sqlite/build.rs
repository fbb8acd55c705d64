//! Rebuilds the crate when a migration was added, which `embed_migrations!` does not detect.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations/sqlite");
}
