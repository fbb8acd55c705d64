//! Where settings are written: flags, the environment, a file.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use toml::{Table, Value};

use super::PREFIX;

/// The settings as they are written. A flag overrides the environment, which overrides the file.
pub(super) struct Source {
    flags: BTreeMap<String, String>,
    environment: BTreeMap<String, String>,
    file: Table,
    /// The settings that were read so far.
    names: Vec<&'static str>,
}

/// Says where a file cannot be understood. The error itself shows the line, which may have a password.
fn syntax_error(file: &Path, text: &str, error: &toml::de::Error) -> anyhow::Error {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    anyhow!("the settings in {} cannot be read: line {line}: {}", file.display(), error.message())
}

impl Source {
    /// Settings from these flags and variables, and from a file, which must exist if it `is_required`.
    pub(super) fn new(
        flags: BTreeMap<String, String>,
        environment: Vec<(String, String)>,
        file: &Path,
        is_required: bool,
    ) -> anyhow::Result<Self> {
        let file = match std::fs::read_to_string(file) {
            Ok(text) => text.parse().map_err(|error| syntax_error(file, &text, &error))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !is_required => Table::new(),
            Err(error) => {
                return Err(error).with_context(|| format!("the settings in {} cannot be read", file.display()));
            }
        };
        // An empty variable is not set.
        let environment = environment.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        Ok(Self { flags, environment, file, names: Vec::new() })
    }

    /// The value of a setting, parsed by a function that gets "the setting NAME" for its errors.
    pub(super) fn optional<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str, &str) -> anyhow::Result<T>,
    ) -> anyhow::Result<Option<T>> {
        let text = self.declare(name)?;
        text.map(|raw| parse(&format!("the setting {name}"), &raw)).transpose()
    }

    /// As [`Self::optional`], with the default of a setting that is not set.
    pub(super) fn value<T>(
        &mut self,
        name: &'static str,
        default: &str,
        parse: impl FnOnce(&str, &str) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let text = self.declare(name)?;
        parse(&format!("the setting {name}"), text.as_deref().unwrap_or(default))
    }

    /// Declares a setting. Returns its text, if it is set.
    fn declare(&mut self, name: &'static str) -> anyhow::Result<Option<String>> {
        self.names.push(name);
        let variable = format!("{PREFIX}{}", name.to_uppercase());
        if let Some(value) = self.flags.get(name).or_else(|| self.environment.get(&variable)) {
            return Ok(Some(value.clone()));
        }
        match self.file.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Integer(number)) => Ok(Some(number.to_string())),
            Some(Value::Boolean(switch)) => Ok(Some(switch.to_string())),
            Some(other) => bail!("the setting {name} is a TOML {}; write it as a string", other.type_str()),
        }
    }

    /// Fails if the file has a setting that was not read. Returns the names of all settings.
    ///
    /// Unknown variables are no error: platforms set variables of their own with the same prefix.
    pub(super) fn finish(self) -> anyhow::Result<Vec<&'static str>> {
        if let Some(unknown) = self.file.keys().find(|name| !self.names.contains(&name.as_str())) {
            bail!("there is no setting {unknown}; docs/configuration.md lists all settings");
        }
        Ok(self.names)
    }
}
