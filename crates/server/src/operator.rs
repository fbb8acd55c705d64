//! The operator: who runs a command of the binary.

use std::ffi::OsString;

use roadmap_domain::model::audit::{Actor, Channel, Origin};

/// The variables that may contain the login name, the most reliable first.
const VARIABLES: [&str; 3] = ["LOGNAME", "USER", "USERNAME"];

/// The name of an operator whose login name is unknown, for example in a container.
const UNKNOWN: &str = "operator";

/// Returns the origin of the operations of this process, which runs a command.
pub(crate) fn origin() -> Origin {
    origin_of(std::env::var_os)
}

fn origin_of(variable: impl Fn(&'static str) -> Option<OsString>) -> Origin {
    let mut names = VARIABLES.into_iter().filter_map(variable).map(|name| name.to_string_lossy().trim().to_owned());
    let name = names.find(|name| !name.is_empty());
    let actor = Actor::operator(name.as_deref().unwrap_or(UNKNOWN));
    Origin { actor, channel: Channel::Command, request_id: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::model::audit::ActorKind;

    fn name(variables: &[(&str, &str)]) -> String {
        let origin = origin_of(|name| {
            let value = variables.iter().find(|(variable, _)| *variable == name);
            value.map(|(_, value)| (*value).into())
        });
        assert_eq!((origin.actor.kind, origin.channel), (ActorKind::Operator, Channel::Command));
        assert_eq!((origin.actor.id, origin.request_id), (None, None));
        origin.actor.name
    }

    /// Addition 6.
    #[test]
    fn an_operator_has_the_login_name() {
        assert_eq!(name(&[("USERNAME", "c"), ("USER", "b"), ("LOGNAME", "a")]), "a");
        assert_eq!(name(&[("USERNAME", "c"), ("USER", "b"), ("LOGNAME", " ")]), "b");
        assert_eq!(name(&[("USERNAME", " ops \n")]), "ops");
        assert_eq!(name(&[("HOME", "/root"), ("USER", "")]), "operator");
    }
}
