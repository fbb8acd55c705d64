//! The colour theme of pages, which a visitor chooses and a cookie keeps.

/// The theme that a visitor has chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    /// All themes.
    pub(crate) const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// Returns the value in forms and cookies. That of the system is empty.
    pub(crate) const fn value(self) -> &'static str {
        match self {
            Self::System => "",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// Returns the theme with this value. Anything unknown is that of the system.
    pub(crate) fn from_value(value: &str) -> Self {
        Self::ALL.into_iter().find(|theme| theme.value() == value).unwrap_or_default()
    }

    /// Returns the key of its name.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::System => "theme-system",
            Self::Light => "theme-light",
            Self::Dark => "theme-dark",
        }
    }
}
