//! What the compose file says. Only the keys that are known here are taken, so that a typing error is no new key.

use std::collections::BTreeMap;

use anyhow::Context;
use serde::Deserialize;

use super::image::Image;
use super::too_short;

/// A compose file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Compose {
    #[serde(rename = "name")]
    _name: String,
    services: Services,
    volumes: BTreeMap<String, Option<()>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Services {
    roadmap: Service,
    postgres: Service,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Service {
    build: Option<Build>,
    image: String,
    restart: String,
    #[serde(default)]
    depends_on: BTreeMap<String, Dependency>,
    environment: BTreeMap<String, String>,
    #[serde(default)]
    ports: Vec<String>,
    volumes: Vec<String>,
    healthcheck: Option<HealthCheck>,
    stop_grace_period: Option<String>,
    #[serde(default)]
    read_only: bool,
    #[serde(default)]
    tmpfs: Vec<String>,
    #[serde(default)]
    cap_drop: Vec<String>,
    #[serde(default)]
    security_opt: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Build {
    context: String,
    dockerfile: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Dependency {
    condition: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HealthCheck {
    test: Vec<String>,
    interval: String,
    timeout: String,
    #[serde(rename = "retries")]
    _retries: u32,
    start_period: String,
}

impl Compose {
    /// Reads a compose file.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        serde_saphyr::from_str(text).context("it is not YAML of the expected form")
    }

    /// The images that are taken from elsewhere; the service's own is built here.
    pub(super) fn images(&self) -> Vec<Image> {
        let Services { roadmap, postgres } = &self.services;
        let foreign = [roadmap, postgres].into_iter().filter(|service| service.build.is_none());
        foreign.filter_map(|service| Image::parse(&service.image).ok()).collect()
    }

    /// What does not fit: `exists` tells whether there is a file beside this one.
    pub(super) fn problems(
        &self,
        port: Option<&str>,
        data: &str,
        shutdown_wait: u64,
        example: &str,
        exists: &dyn Fn(&str) -> bool,
    ) -> Vec<String> {
        let Services { roadmap, postgres } = &self.services;
        let mut problems = Vec::new();
        let mut wrong = |is: bool, what: String| {
            if is {
                problems.push(format!("compose.yaml: {what}"));
            }
        };
        for (name, service) in [("roadmap", roadmap), ("postgres", postgres)] {
            wrong(service.restart != "unless-stopped", format!("{name} is not started again"));
            if let Err(why) = Image::parse(&service.image) {
                wrong(true, format!("the image {why}"));
            }
            for volume in &service.volumes {
                let source = volume.split(':').next().unwrap_or_default();
                let there = if source.starts_with('.') { exists(source) } else { self.volumes.contains_key(source) };
                wrong(!there, format!("the volume {volume} of {name} comes from nowhere"));
            }
            for (variable, value) in &service.environment {
                let secret =
                    ["SECRET", "PASSWORD", "DATABASE_URL", "SMTP_URL"].iter().any(|word| variable.contains(word));
                wrong(secret && !value.contains("${"), format!("{variable} of {name} has a value of its own"));
                for asked in interpolated(value) {
                    let known =
                        example.lines().any(|line| line.strip_prefix(asked).is_some_and(|rest| rest.starts_with('=')));
                    wrong(!known, format!("{variable} of {name} needs {asked}, which is not in .env.example"));
                }
            }
            if let Some(check) = &service.healthcheck {
                let times = [&check.interval, &check.timeout, &check.start_period];
                wrong(
                    times.iter().any(|time| super::seconds(time).is_none()),
                    format!("the times of {name}'s health check"),
                );
                wrong(
                    check.test.first().is_none_or(|first| first != "CMD"),
                    format!("the health check of {name} needs a shell"),
                );
            }
        }
        let built = roadmap
            .build
            .as_ref()
            .is_some_and(|build| build.context == ".." && exists(&format!("{}/{}", build.context, build.dockerfile)));
        wrong(!built, "roadmap is not built by the Dockerfile".to_owned());
        let waits = roadmap.depends_on.get("postgres").is_some_and(|on| on.condition == "service_healthy");
        wrong(!waits || postgres.healthcheck.is_none(), "roadmap does not wait until postgres is healthy".to_owned());
        let port = port.unwrap_or_default();
        wrong(
            roadmap.ports.len() != 1 || !roadmap.ports.iter().all(|pair| pair.ends_with(&format!(":{port}"))),
            format!("the ports are {:?}, and the container's is {port}", roadmap.ports),
        );
        wrong(
            !roadmap.ports.iter().all(|port| port.starts_with("127.0.0.1:")),
            "it is reached past a proxy".to_owned(),
        );
        wrong(
            !roadmap.volumes.iter().any(|volume| volume.ends_with(&format!(":{data}"))),
            format!("nothing is kept of {data}"),
        );
        let closed = roadmap.read_only && !roadmap.tmpfs.is_empty() && roadmap.cap_drop == ["ALL"];
        let closed = closed && roadmap.security_opt.iter().any(|option| option == "no-new-privileges:true");
        wrong(!closed, "roadmap may do more than it needs".to_owned());
        let grace = roadmap.stop_grace_period.as_deref();
        problems.extend(too_short("compose.yaml", "stop_grace_period", grace, shutdown_wait));
        problems
    }
}

/// The names in `${NAME:-…}` and `${NAME:?…}`.
fn interpolated(value: &str) -> impl Iterator<Item = &str> {
    let name = |part: &'_ str| part.find(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    value.split("${").skip(1).map(move |part| part.get(..name(part).unwrap_or(part.len())).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "
name: x
services:
  roadmap:
    build: {context: .., dockerfile: Dockerfile}
    image: roadmap:local
    restart: unless-stopped
    depends_on: {postgres: {condition: service_healthy}}
    environment:
      ROADMAP_DATABASE_URL: postgres://roadmap:${PASSWORD:?no}@postgres/roadmap
    ports: ['127.0.0.1:80:8080']
    volumes: ['data:/data']
    stop_grace_period: 100s
    read_only: true
    tmpfs: [/tmp]
    cap_drop: [ALL]
    security_opt: ['no-new-privileges:true']
  postgres:
    image: postgres:17
    restart: unless-stopped
    environment: {POSTGRES_PASSWORD: '${PASSWORD:?no}'}
    volumes: ['database:/var/lib/postgresql/data', './init.sh:/init.sh:ro']
    healthcheck: {test: [CMD, pg_isready], interval: 5s, timeout: 3s, retries: 5, start_period: 30s}
volumes:
  data:
  database:
";

    fn problems(text: &str) -> Vec<String> {
        let exists = |path: &str| ["../Dockerfile", "./init.sh"].contains(&path);
        Compose::parse(text).unwrap().problems(Some("8080"), "/data", 30, "# x\nPASSWORD=\n", &exists)
    }

    #[test]
    fn a_good_file_has_no_problems() {
        assert_eq!(problems(GOOD), Vec::<String>::new());
    }

    #[test]
    fn each_fault_is_named() {
        for (good, bad, problem) in [
            ("unless-stopped", "always", "roadmap is not started again"),
            ("postgres:17", "postgres", "the image `postgres` names no version"),
            (
                "postgres:17",
                "postgres:17@sha256:12",
                "the image `postgres:17@sha256:12` has no digest behind the @: `sha256:` and 64 hexadecimal digits",
            ),
            ("data:/data", "dta:/data", "the volume dta:/data of roadmap comes from nowhere"),
            ("./init.sh:", "./int.sh:", "the volume ./int.sh:/init.sh:ro of postgres comes from nowhere"),
            ("'${PASSWORD:?no}'", "'abc'", "POSTGRES_PASSWORD of postgres has a value of its own"),
            (
                "'${PASSWORD:?no}'",
                "'${PASSWRD}'",
                "POSTGRES_PASSWORD of postgres needs PASSWRD, which is not in .env.example",
            ),
            ("start_period: 30s", "start_period: soon", "the times of postgres's health check"),
            ("[CMD, pg_isready]", "[CMD-SHELL, pg_isready]", "the health check of postgres needs a shell"),
            ("dockerfile: Dockerfile", "dockerfile: Docker", "roadmap is not built by the Dockerfile"),
            ("service_healthy", "service_started", "roadmap does not wait until postgres is healthy"),
            (
                "127.0.0.1:80:8080",
                "127.0.0.1:80:80",
                "the ports are [\"127.0.0.1:80:80\"], and the container's is 8080",
            ),
            ("127.0.0.1:80:8080", "80:8080", "it is reached past a proxy"),
            ("data:/data", "data:/other", "nothing is kept of /data"),
            ("read_only: true", "read_only: false", "roadmap may do more than it needs"),
            ("100s", "90s", "stop_grace_period is 90s, which is not more than three times shutdown_wait (30s)"),
        ] {
            assert_eq!(problems(&GOOD.replacen(good, bad, 1)), [format!("compose.yaml: {problem}")], "{bad}");
        }
    }

    #[test]
    fn what_has_another_form_is_refused() {
        for (good, bad) in [
            ("restart:", "retart:"),
            ("volumes:\n", "volume:\n"),
            ("  roadmap:", "   roadmap:"),
            ("name: x", "name: [x]"),
        ] {
            assert!(Compose::parse(&GOOD.replacen(good, bad, 1)).is_err(), "{bad}");
        }
    }
}
