//! What a Dockerfile says, as far as that can be told without building it.

use anyhow::{Context, ensure};

use super::image::Image;

/// All instructions that there are.
const INSTRUCTIONS: [&str; 16] = [
    "ADD",
    "ARG",
    "CMD",
    "COPY",
    "ENTRYPOINT",
    "ENV",
    "EXPOSE",
    "FROM",
    "HEALTHCHECK",
    "LABEL",
    "RUN",
    "SHELL",
    "STOPSIGNAL",
    "USER",
    "VOLUME",
    "WORKDIR",
];

/// The instructions of a Dockerfile, in their order.
#[derive(Debug)]
pub(super) struct Dockerfile(Vec<(String, String)>);

impl Dockerfile {
    /// Reads a Dockerfile: comments go, continued lines become one.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let mut instructions = Vec::new();
        let mut begun = String::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            begun.push_str(line);
            if begun.ends_with('\\') {
                begun.pop();
                continue;
            }
            let whole = std::mem::take(&mut begun);
            let (name, rest) = whole.split_once(' ').with_context(|| format!("`{whole}` is no instruction"))?;
            ensure!(INSTRUCTIONS.contains(&name), "`{name}` is no instruction");
            instructions.push((name.to_owned(), rest.trim().to_owned()));
        }
        ensure!(begun.is_empty(), "the last line goes on: `{begun}`");
        let first = instructions.iter().find(|(name, _)| name != "ARG");
        ensure!(
            first.is_some_and(|(name, _)| name == "FROM"),
            "it does not begin with FROM, or with ARG and then FROM"
        );
        for (name, rest) in &instructions {
            if rest.starts_with('[') {
                let list: Result<Vec<String>, _> = serde_json::from_str(rest);
                ensure!(list.is_ok(), "{name} has a list that is no JSON: {rest}");
            }
        }
        Ok(Self(instructions))
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(instruction, _)| instruction == name).map(|(_, rest)| rest.as_str())
    }

    /// What the last stage says, which is what runs.
    fn last<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        let stage = self.0.iter().rposition(|(instruction, _)| instruction == "FROM")?;
        let stage = self.0.get(stage..)?;
        stage.iter().rev().find(|(instruction, _)| instruction == name).map(|(_, rest)| rest.as_str())
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.last("ENV")?.split_whitespace().find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }

    /// The images that the stages are built on. Each has its name in an `ARG` before the first stage, and nowhere else.
    pub(super) fn images(&self) -> Vec<Result<Image, String>> {
        let arguments: Vec<(&str, &str)> = self
            .0
            .iter()
            .take_while(|(instruction, _)| instruction == "ARG")
            .filter_map(|(_, rest)| rest.split_once('='))
            .collect();
        self.all("FROM")
            .map(|from| {
                let raw = from.split_whitespace().next().unwrap_or_default();
                let name = raw.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
                let named = arguments.iter().find(|(argument, _)| Some(*argument) == name);
                let (_, image) = named.ok_or_else(|| format!("`FROM {from}` has its image in no ARG before it"))?;
                Image::parse(image).map_err(|why| format!("the image {why}"))
            })
            .collect()
    }

    /// The port that it serves.
    pub(super) fn port(&self) -> Option<String> {
        self.last("EXPOSE").map(str::to_owned)
    }

    /// What does not fit: `exists` tells whether a path is in the repository.
    pub(super) fn problems(&self, toolchain: &str, data: &str, exists: &dyn Fn(&str) -> bool) -> Vec<String> {
        let mut problems = Vec::new();
        let mut wrong = |is: bool, what: String| {
            if is {
                problems.push(format!("Dockerfile: {what}"));
            }
        };
        let compiler = format!("rust:{toolchain}-");
        let images = self.images();
        wrong(
            !images.iter().flatten().any(|image| image.is(&compiler)),
            format!("no stage builds with the compiler of rust-toolchain.toml, {toolchain}"),
        );
        for why in images.into_iter().filter_map(Result::err) {
            wrong(true, why);
        }
        for copied in self.all("COPY").filter(|copied| !copied.starts_with("--from=")) {
            let mut paths: Vec<&str> = copied.split_whitespace().filter(|path| !path.starts_with("--")).collect();
            paths.pop();
            wrong(paths.is_empty(), format!("`COPY {copied}` copies nothing"));
            for path in paths {
                wrong(!exists(path), format!("`COPY {copied}`: there is no {path}"));
            }
        }
        let user = self.last("USER").unwrap_or_default();
        wrong(
            user.is_empty() || user.starts_with("root") || user.split(':').next() == Some("0"),
            "it runs as root".to_owned(),
        );
        let port = self.port().unwrap_or_default();
        wrong(port.parse::<u16>().is_err(), format!("`EXPOSE {port}` is no port"));
        let listen = self.variable("ROADMAP_LISTEN").unwrap_or_default();
        wrong(listen != format!("0.0.0.0:{port}"), format!("ROADMAP_LISTEN is `{listen}`, the port is {port}"));
        let folder = self.variable("ROADMAP_DATA_DIR").unwrap_or_default();
        wrong(folder != data, format!("ROADMAP_DATA_DIR is `{folder}`, not {data}"));
        let volume = self.last("VOLUME").unwrap_or_default();
        wrong(volume != format!("[\"{data}\"]"), format!("`VOLUME {volume}` is not {data}"));
        let check = self.last("HEALTHCHECK").unwrap_or_default();
        wrong(
            !check.contains(&format!("http://127.0.0.1:{port}/readyz")),
            format!("the health check does not ask /readyz at port {port}"),
        );
        for pairs in self.all("ENV").chain(self.all("ARG")) {
            let secret = ["SECRET", "PASSWORD", "DATABASE_URL", "SMTP_URL"].iter().any(|word| pairs.contains(word));
            wrong(secret, format!("`{pairs}` would put a secret into the image"));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# x\nARG RUST=rust:1.95.0-slim\nARG ALPINE=alpine:3.22\nFROM ${RUST} AS build\nCOPY a b \\\n  c ./\n\
        RUN make \\\n    # why\n    && test\n\nFROM ${ALPINE}\n\
        COPY --from=build /x /x\nENV ROADMAP_LISTEN=0.0.0.0:8080 ROADMAP_DATA_DIR=/data\nUSER 10001:10001\nVOLUME [\"/data\"]\n\
        EXPOSE 8080\nHEALTHCHECK CMD [\"wget\", \"http://127.0.0.1:8080/readyz\"]\n";

    fn problems(text: &str) -> Vec<String> {
        Dockerfile::parse(text).unwrap().problems("1.95.0", "/data", &|path| ["a", "b", "c"].contains(&path))
    }

    #[test]
    fn a_good_file_is_read_with_its_continued_lines() {
        let file = Dockerfile::parse(GOOD).unwrap();
        assert_eq!(file.all("RUN").collect::<Vec<_>>(), ["make && test"]);
        assert_eq!(file.port().as_deref(), Some("8080"));
        assert_eq!(problems(GOOD), Vec::<String>::new());
    }

    #[test]
    fn each_fault_is_named() {
        for (good, bad, problem) in [
            ("rust:1.95.0", "rust:1.94.0", "no stage builds with the compiler of rust-toolchain.toml, 1.95.0"),
            ("alpine:3.22", "alpine", "the image `alpine` names no version"),
            ("alpine:3.22", "alpine:latest", "the image `alpine:latest` names no version"),
            (
                "alpine:3.22",
                "alpine:3.22@sha256:12",
                "the image `alpine:3.22@sha256:12` has no digest behind the @: `sha256:` and 64 hexadecimal digits",
            ),
            ("FROM ${ALPINE}", "FROM alpine:3.22", "`FROM alpine:3.22` has its image in no ARG before it"),
            ("FROM ${ALPINE}", "FROM ${ALPIN}", "`FROM ${ALPIN}` has its image in no ARG before it"),
            ("COPY a", "COPY d", "`COPY d b c ./`: there is no d"),
            ("USER 10001:10001", "USER 0", "it runs as root"),
            ("USER 10001:10001", "LABEL a=b", "it runs as root"),
            (
                "ROADMAP_LISTEN=0.0.0.0:8080",
                "ROADMAP_LISTEN=0.0.0.0:80",
                "ROADMAP_LISTEN is `0.0.0.0:80`, the port is 8080",
            ),
            ("ROADMAP_DATA_DIR=/data", "ROADMAP_DATA_DIR=/d", "ROADMAP_DATA_DIR is `/d`, not /data"),
            ("VOLUME [\"/data\"]", "VOLUME [\"/d\"]", "`VOLUME [\"/d\"]` is not /data"),
            ("8080/readyz", "80/readyz", "the health check does not ask /readyz at port 8080"),
            ("RUN make", "ENV ROADMAP_SECRET=x\nRUN make", "`ROADMAP_SECRET=x` would put a secret into the image"),
        ] {
            assert_eq!(problems(&GOOD.replacen(good, bad, 1)), [format!("Dockerfile: {problem}")], "{bad}");
        }
    }

    #[test]
    fn what_is_no_dockerfile_is_refused() {
        for text in
            ["", "RUN x", "FORM x", "FROM", "ARG A=b", "ARG A=b\nRUN x", "FROM a:1\nRUN x \\\n", "FROM a:1\nCMD [\"x\""]
        {
            assert!(Dockerfile::parse(text).is_err(), "{text}");
        }
    }
}
