//! What the unit of systemd says.

use anyhow::{Context, ensure};

use super::too_short;

/// The lines of a unit: section, name and value.
#[derive(Debug)]
pub(super) struct Unit(Vec<(String, String, String)>);

/// What every unit of ours says, so that the service can do no more than it needs.
const HARDENING: [(&str, &str); 8] = [
    ("CapabilityBoundingSet", ""),
    ("MemoryDenyWriteExecute", "yes"),
    ("NoNewPrivileges", "yes"),
    ("PrivateTmp", "yes"),
    ("ProtectHome", "yes"),
    ("ProtectSystem", "strict"),
    ("RestrictAddressFamilies", "AF_INET AF_INET6 AF_UNIX"),
    ("SystemCallFilter", "@system-service"),
];

impl Unit {
    /// Reads a unit.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let (mut lines, mut section) = (Vec::new(), String::new());
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])) {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                name.clone_into(&mut section);
                continue;
            }
            ensure!(!section.is_empty(), "`{line}` is in no section of the unit");
            let (name, value) = line.split_once('=').with_context(|| format!("`{line}` of the unit is no setting"))?;
            lines.push((section.clone(), name.trim().to_owned(), value.trim().to_owned()));
        }
        Ok(Self(lines))
    }

    fn service<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let lines = self.0.iter().filter(move |(section, line, _)| section == "Service" && line == name);
        lines.map(|(_, _, value)| value.as_str())
    }

    /// What does not fit, also with the file of settings that it names.
    pub(super) fn problems(&self, toml: &str, data: &str, shutdown_wait: u64) -> anyhow::Result<Vec<String>> {
        let file = "roadmap.service";
        let mut problems = Vec::new();
        let mut wrong = |is: bool, what: String| {
            if is {
                problems.push(format!("{file}: {what}"));
            }
        };
        let settings: toml_edit::DocumentMut = toml.parse()?;
        let folder = settings.get("data_dir").and_then(toml_edit::Item::as_str).unwrap_or_default();
        wrong(folder != data, format!("roadmap.toml keeps data in `{folder}`, not in {data}"));
        let state = self.service("StateDirectory").next().unwrap_or_default();
        wrong(format!("/var/lib/{state}") != data, format!("StateDirectory is `{state}`, and data is in {data}"));
        let start = "/usr/local/bin/roadmap serve --config /etc/roadmap/roadmap.toml";
        wrong(!self.service("ExecStart").eq([start]), format!("ExecStart is not `{start}`"));
        let user = self.service("User").next().unwrap_or_default();
        let own = !["", "root", "0"].contains(&user) || self.service("DynamicUser").eq(["yes"]);
        wrong(!own, "it has no user of its own".to_owned());
        for (name, value) in HARDENING {
            wrong(!self.service(name).any(|line| line == value), format!("{name}={value} is missing"));
        }
        let limit = self.service("TimeoutStopSec").next();
        problems.extend(too_short(file, "TimeoutStopSec", limit, shutdown_wait));
        Ok(problems)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> String {
        let hardening: String = HARDENING.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
        format!(
            "# x\n[Unit]\nDescription=x\n[Service]\nUser=roadmap\nStateDirectory=roadmap\nTimeoutStopSec=100\n\
             ExecStart=/usr/local/bin/roadmap serve --config /etc/roadmap/roadmap.toml\n{hardening}"
        )
    }

    fn problems(unit: &str) -> Vec<String> {
        Unit::parse(unit).unwrap().problems("data_dir = \"/var/lib/roadmap\"", "/var/lib/roadmap", 30).unwrap()
    }

    #[test]
    fn each_fault_is_named() {
        assert_eq!(problems(&good()), Vec::<String>::new());
        for (right, bad, problem) in [
            ("StateDirectory=roadmap", "StateDirectory=x", "StateDirectory is `x`, and data is in /var/lib/roadmap"),
            ("User=roadmap", "User=root", "it has no user of its own"),
            ("ProtectSystem=strict", "ProtectSystem=full", "ProtectSystem=strict is missing"),
            (
                "TimeoutStopSec=100",
                "TimeoutStopSec=90",
                "TimeoutStopSec is 90, which is not more than three times shutdown_wait (30s)",
            ),
            (
                "serve --config",
                "serve -c",
                "ExecStart is not `/usr/local/bin/roadmap serve --config /etc/roadmap/roadmap.toml`",
            ),
        ] {
            assert_eq!(problems(&good().replacen(right, bad, 1)), [format!("roadmap.service: {problem}")], "{bad}");
        }
        let elsewhere = Unit::parse(&good()).unwrap().problems("data_dir = \"/data\"", "/var/lib/roadmap", 30).unwrap();
        assert_eq!(elsewhere, ["roadmap.service: roadmap.toml keeps data in `/data`, not in /var/lib/roadmap"]);
    }

    #[test]
    fn what_is_no_unit_is_refused() {
        assert!(Unit::parse("User=x").is_err());
        assert!(Unit::parse("[Service]\nUser").is_err());
    }
}
