//! The columns of a table.

use crate::table::Header;

/// A column, which may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Column {
    /// The name that was found, else the strongest one, for problems.
    pub(super) name: &'static str,
    position: Option<usize>,
}

impl Column {
    /// Finds a column by the names that it may have, the strongest first.
    pub(crate) fn find(header: &Header, names: &[&'static str]) -> Self {
        let mut found = names.iter().filter_map(|name| Some((*name, header.position(name)?)));
        match found.next() {
            Some((name, position)) => Self { name, position: Some(position) },
            None => Self { name: names.first().copied().unwrap_or_default(), position: None },
        }
    }

    pub(crate) fn exists(self) -> bool {
        self.position.is_some()
    }

    pub(super) fn position(self) -> Option<usize> {
        self.position
    }
}

/// The columns of one kind of table.
pub(crate) trait Columns {
    fn find(header: &Header) -> Self;

    fn all(&self) -> Vec<Column>;
}

/// Defines kinds of tables by the names of their columns.
macro_rules! columns {
    ($($(#[$meta:meta])* $table:ident { $($column:ident: $names:expr),+ $(,)? })+) => {$(
        $(#[$meta])*
        pub(super) struct $table {
            $(pub(super) $column: Column,)+
        }

        impl Columns for $table {
            fn find(header: &Header) -> Self {
                Self { $($column: Column::find(header, &$names),)+ }
            }

            fn all(&self) -> Vec<Column> {
                vec![$(self.$column),+]
            }
        }
    )+};
}

pub(crate) use columns;
