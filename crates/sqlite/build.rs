//! Compiles the crate anew when a migration was added; `embed_migrations!` does not notice.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations/sqlite");
}
