//! What both stores share: statements in SQL that are checked at compile time, and the spans of all statements.
//!
//! Not here: SQL, which belongs to the stores, and business rules, which belong to the domain.

pub mod columns;
pub mod spans;
pub mod statement;
