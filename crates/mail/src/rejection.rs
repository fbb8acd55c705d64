//! What a mail server's refusal is about: this client, the sender, or the mail. Only the last depends on the mail.

/// A step of the SMTP dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The connection, the greeting and EHLO.
    Connect,
    StartTls,
    Login,
    Sender,
    Recipient,
    Data,
    Message,
}

impl Step {
    /// The name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Connect => "connecting",
            Self::StartTls => "STARTTLS",
            Self::Login => "AUTH",
            Self::Sender => "MAIL FROM",
            Self::Recipient => "RCPT TO",
            Self::Data => "DATA",
            Self::Message => "the message",
        }
    }
}

/// What a refusal is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The name in EHLO.
    Hello,
    /// A login, or its user and password.
    Login,
    /// Missing encryption.
    Encryption,
    /// The address of this machine: blocked, or without a proper name in the DNS.
    Client,
    /// This client may not send mail to other domains by this server.
    Relay,
    /// The sender's address or domain.
    Sender,
    /// A command that the server does not understand or expect.
    Protocol,
    /// The recipient or the content, or unknown.
    Mail,
}

/// Phrases about each cause, the more certain ones first. Servers write them in English.
const PHRASES: [(Cause, &[&str]); 6] = [
    (Cause::Hello, &["helo", "ehlo"]),
    (Cause::Encryption, &["starttls", "must use tls", "tls required", "requires tls", "encryption required"]),
    (
        Cause::Sender,
        &[
            "spf",
            "dkim",
            "dmarc",
            "sender address",
            "sender rejected",
            "sender verify",
            "sender denied",
            "sender not",
            "sender is not",
            "sender domain",
            "from address",
            "not owned by",
            "not allowed to send",
            "send as",
        ],
    ),
    (
        Cause::Login,
        &[
            "authentication required",
            "authentication is required",
            "requires authentication",
            "not authenticated",
            "authenticate",
            "auth required",
            "log in",
            "login",
        ],
    ),
    (
        Cause::Client,
        &[
            "client host",
            "client address",
            "client ip",
            "your ip",
            "your host",
            "your server",
            "your address",
            "sending ip",
            "sending host",
            "reverse dns",
            "reverse hostname",
            "rdns",
            "ptr",
            "reputation",
            "blocked using",
            "dnsbl",
            "rbl",
            "blocklist",
            "blocklisted",
            "block list",
            "blacklist",
            "blacklisted",
            "black list",
            "spamhaus",
            "spamcop",
            "barracuda",
            "sorbs",
        ],
    ),
    (Cause::Relay, &["relay", "relaying"]),
];

/// Phrases about recipients.
const OF_RECIPIENTS: [&str; 8] =
    ["recipient", "mailbox", "no such user", "user unknown", "unknown user", "does not exist", "account", "quota"];

/// Words that are about this client as long as the server has not seen the content.
const BEFORE_CONTENT: [&str; 4] = ["blocked", "listed", "banned", "denied access"];

/// Returns what a refusal is about, by its code and text.
pub(crate) fn cause(step: Step, code: u16, text: &str) -> Cause {
    let enhanced = enhanced_code(text);
    let words = words(text);
    let mentions = |phrases: &[&str]| phrases.iter().any(|phrase| words.contains(&format!(" {phrase} ")));
    let by_code = match (code, enhanced) {
        // RFC 3207 section 4, RFC 4954 section 6, RFC 3463, RFC 5248, RFC 7372.
        (538, _) | (_, Some([_, 7, 10 | 11])) => Some(Cause::Encryption),
        (_, Some([_, 1, 7 | 8]) | Some([_, 7, 20..=24 | 26 | 27 | 60])) => Some(Cause::Sender),
        (_, Some([_, 7, 25]) | Some([_, 7, 500..=899])) => Some(Cause::Client),
        (_, Some([_, 7, 8 | 9 | 57])) => Some(Cause::Login),
        _ => None,
    };
    let by_text = PHRASES.into_iter().find_map(|(cause, phrases)| mentions(phrases).then_some(cause));
    if let Some(cause) = by_code.or(by_text) {
        return cause;
    }
    if matches!(code, 530 | 534 | 535) {
        return Cause::Login;
    }
    if mentions(&OF_RECIPIENTS) {
        return Cause::Mail;
    }
    match (step, code, enhanced) {
        (Step::Login, ..) => Cause::Login,
        (Step::StartTls, ..) => Cause::Encryption,
        (Step::Sender, ..) => Cause::Sender,
        (_, 504, _) => Cause::Hello,
        (_, 500 | 502 | 503, _) | (_, _, Some([_, 5, _])) => Cause::Protocol,
        (Step::Connect, ..) => Cause::Client,
        (Step::Recipient | Step::Data, ..) if mentions(&BEFORE_CONTENT) => Cause::Client,
        _ => Cause::Mail,
    }
}

/// Whether the enhanced status code (RFC 3463 section 3.2) means that the mailbox does not exist: bad mailbox, bad
/// destination, bad syntax, moved, null MX (RFC 7505).
pub(crate) fn is_no_such_mailbox(text: &str) -> bool {
    matches!(enhanced_code(text), Some([5, 1, 1 | 2 | 3 | 6 | 10]))
}

/// Parses the enhanced status code at the beginning of a reply's text.
pub(crate) fn enhanced_code(text: &str) -> Option<[u16; 3]> {
    let parts: Vec<u16> = text.split_whitespace().next()?.split('.').map_while(|part| part.parse().ok()).collect();
    parts.try_into().ok()
}

/// The words of a text in lower case, with one space before and after each.
fn words(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let words: Vec<&str> =
        lower.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replies of Postfix, Exim, Sendmail, Exchange, Gmail and others.
    #[test]
    fn the_cause_of_a_refusal_is_found_in_its_code_and_text() {
        use Step::{Connect, Data, Login, Message, Recipient, Sender};
        for (step, reply, expected) in [
            (Recipient, "504 5.5.2 <a1b2>: Helo command rejected: need fully-qualified hostname", Cause::Hello),
            (Recipient, "550 5.7.1 <localhost>: Helo command rejected: Host not found", Cause::Hello),
            (Recipient, "501 <a_b>: Helo command rejected: Invalid name", Cause::Hello),
            (Connect, "504 need a real name", Cause::Hello),
            (Recipient, "550 HELO should be a FQDN or address literal (See RFC 2821 4.1.1.1)", Cause::Hello),
            (Sender, "530 5.7.0 Authentication required", Cause::Login),
            (Sender, "530 Must issue AUTH first", Cause::Login),
            (Recipient, "550 5.7.1 Client was not authenticated", Cause::Login),
            (Sender, "530 5.7.57 Client not authenticated to send mail", Cause::Login),
            (Recipient, "550 Please log in before you send", Cause::Login),
            (Login, "535 5.7.8 Wrong user or password", Cause::Login),
            (Login, "454 4.7.0 Temporary authentication failure", Cause::Login),
            (Sender, "530 5.7.0 Must issue a STARTTLS command first", Cause::Encryption),
            (Sender, "538 5.7.11 Encryption required", Cause::Encryption),
            (
                Recipient,
                "554 5.7.1 Service unavailable; Client host [192.0.2.7] blocked using zen.spamhaus.org",
                Cause::Client,
            ),
            (
                Message,
                "554 5.7.1 Service unavailable; Client host [192.0.2.7] blocked using zen.spamhaus.org",
                Cause::Client,
            ),
            (
                Recipient,
                "550 5.7.1 <unknown[192.0.2.7]>: Client host rejected: cannot find your reverse hostname",
                Cause::Client,
            ),
            (Recipient, "550 5.7.1 you are listed", Cause::Client),
            (Recipient, "550 Your IP is blocked", Cause::Client),
            (Recipient, "550 5.7.606 Access denied, banned sending IP [192.0.2.7]", Cause::Client),
            (Message, "550 5.7.25 The IP address sending this message does not have a PTR record", Cause::Client),
            (Connect, "554 5.7.1 Go away", Cause::Client),
            (Recipient, "554 5.7.1 <ann@example.com>: Relay access denied", Cause::Relay),
            (Recipient, "550 relay not permitted", Cause::Relay),
            (Recipient, "550 5.7.1 <ann@example.com>... Relaying denied", Cause::Relay),
            (Recipient, "550 5.7.54 SMTP; Unable to relay recipient in non-accepted domain", Cause::Relay),
            (Sender, "550 5.7.1 Unknown sender", Cause::Sender),
            (Recipient, "553 5.7.1 <a@b.example>: Sender address rejected: not owned by user ann", Cause::Sender),
            (Recipient, "550 5.1.8 <a@b.example>: Domain not found", Cause::Sender),
            (Recipient, "504 5.5.2 <a@b>: Sender address rejected: need fully-qualified address", Cause::Sender),
            (Message, "550 5.7.26 This mail is unauthenticated: SPF did not pass", Cause::Sender),
            (Recipient, "503 5.5.1 Bad sequence of commands", Cause::Protocol),
            (Data, "502 5.5.1 No such command", Cause::Protocol),
            (Recipient, "550 5.1.1 <ann@example.com>: Recipient address rejected: User unknown", Cause::Mail),
            (Recipient, "504 5.5.2 <ann>: Recipient address rejected: need fully-qualified address", Cause::Mail),
            (Recipient, "550 5.5.0 Requested action not taken: mailbox unavailable", Cause::Mail),
            (Recipient, "550 5.2.1 The account is blocked", Cause::Mail),
            (Recipient, "552 5.2.2 Mailbox full", Cause::Mail),
            (Recipient, "550 No", Cause::Mail),
            (Message, "554 5.7.1 Spam", Cause::Mail),
            (Message, "554 5.7.1 Message blocked: it has a virus", Cause::Mail),
            (Message, "552 5.3.4 Message too big", Cause::Mail),
            (Recipient, "501 5.1.3 No such form", Cause::Mail),
        ] {
            let (code, text) = reply.split_once(' ').unwrap();
            assert_eq!(cause(step, code.parse().unwrap(), text), expected, "{reply}");
        }
    }

    #[test]
    fn an_enhanced_code_has_three_numbers() {
        for (text, code) in [
            ("5.1.1 No such user", Some([5, 1, 1])),
            ("5.1.10 Null MX", Some([5, 1, 10])),
            ("No such user", None),
            ("5.1 what", None),
            ("5.1.1.1 what", None),
            ("", None),
        ] {
            assert_eq!(enhanced_code(text), code, "{text}");
        }
    }
}
