//! What both stores share: rows and their conversion to the model, statements in SQL that are checked at compile time,
//! rows that move to the other database, and the spans of all statements.
//!
//! Not here: SQL, which belongs to the stores, and business rules, which belong to the domain.

pub mod columns;
pub mod moving;
pub mod rows;
pub mod spans;
pub mod statement;
