//! Signatures of webhooks, as Standard Webhooks 1.0.0 says.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::model::id::WebhookEventId;
use crate::policy::sealing::SecretText;

/// What each secret begins with.
const SECRET_PREFIX: &str = "whsec_";

/// Returns a secret that consists of these bytes, which must be random.
#[must_use]
pub fn new_secret(bytes: &[u8; 32]) -> SecretText {
    SecretText::new(format!("{SECRET_PREFIX}{}", STANDARD.encode(bytes)))
}

/// Returns the header `webhook-signature` of a try that begins at this time, in seconds since the Unix epoch: one
/// signature for each secret, in their order. A secret that is none is skipped. `None` if there is no other.
#[must_use]
pub fn signature_header(id: WebhookEventId, at_seconds: i64, body: &str, secrets: &[SecretText]) -> Option<String> {
    header_of(&id.to_string(), at_seconds, body, secrets)
}

fn header_of(id: &str, at_seconds: i64, body: &str, secrets: &[SecretText]) -> Option<String> {
    let signatures: Vec<String> = secrets.iter().filter_map(|secret| signature(id, at_seconds, body, secret)).collect();
    (!signatures.is_empty()).then(|| signatures.join(" "))
}

/// Returns the signature with one secret, whose key is the Base64 part.
fn signature(id: &str, at_seconds: i64, body: &str, secret: &SecretText) -> Option<String> {
    let key = STANDARD.decode(secret.as_str().strip_prefix(SECRET_PREFIX)?).ok().filter(|key| !key.is_empty())?;
    let mac = Hmac::<Sha256>::new_from_slice(&key).ok()?;
    let code = mac.chain_update(format!("{id}.{at_seconds}.")).chain_update(body).finalize().into_bytes();
    Some(format!("v1,{}", STANDARD.encode(code)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    /// The secret, the message and the signature in the documentation of Standard Webhooks.
    const PUBLISHED_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const PUBLISHED_SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    /// Computed with `hmac` of Python for the bytes 0 to 31.
    const SIGNATURE: &str = "v1,fn/iJJ+iUvCBy/PgPu80SBON5md4eK9eZc393BD1IPc=";

    fn secret(text: &str) -> SecretText {
        SecretText::new(text.to_owned())
    }

    fn counted() -> SecretText {
        let mut bytes = [0; 32];
        bytes.iter_mut().zip(0..).for_each(|(byte, number)| *byte = number);
        new_secret(&bytes)
    }

    fn header(secrets: &[SecretText]) -> Option<String> {
        let id = WebhookEventId::new(Uuid::parse_str("01976800-c95f-7d4d-9d90-7a6bf43233fb").unwrap());
        signature_header(id, 1_772_357_400, "{\"title\":\"Ä 🦀\"}", secrets)
    }

    /// Webhooks: Standard Webhooks 1.0.0.
    #[test]
    fn signatures_are_those_of_standard_webhooks() {
        let of_message =
            |body: &str| header_of("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body, &[secret(PUBLISHED_SECRET)]);
        assert_eq!(of_message("{\"test\": 2432232314}").as_deref(), Some(PUBLISHED_SIGNATURE));
        assert_ne!(of_message("{\"test\": 2432232315}").as_deref(), Some(PUBLISHED_SIGNATURE));
        assert_eq!(header(&[counted()]).as_deref(), Some(SIGNATURE));
    }

    /// Webhooks: one signature for each valid secret, newest first.
    #[test]
    fn each_secret_signs_in_its_order() {
        let [new, old] = [header(&[counted()]).unwrap(), header(&[secret(PUBLISHED_SECRET)]).unwrap()];
        assert_ne!(new, old);
        let both = header(&[counted(), secret(PUBLISHED_SECRET)]).unwrap();
        assert_eq!(both, format!("{new} {old}"));
    }

    #[test]
    fn what_is_no_secret_does_not_sign() {
        let unusable = [
            "",
            "whsec_",
            "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "whsec_MfKQ9",
            "whsec_MfKQ-r8_",
            "whsec_ AAAA",
            "whsec_é",
        ];
        for text in unusable {
            assert_eq!(header(&[secret(text)]), None, "{text}");
            assert_eq!(header(&[secret(text), counted()]).as_deref(), Some(SIGNATURE), "{text}");
        }
        assert_eq!(header(&[]), None);
    }

    #[test]
    fn a_new_secret_is_32_bytes_in_base64() {
        assert_eq!(counted().as_str(), "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
        let encoded = new_secret(&[0xff; 32]);
        let encoded = encoded.as_str().strip_prefix(SECRET_PREFIX).unwrap();
        assert_eq!(STANDARD.decode(encoded).unwrap(), [0xff; 32]);
    }
}
