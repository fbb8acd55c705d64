//! Credentials that commands and the demo create: API keys, and sign-ins whose links are shown.

use roadmap_domain::model::api_key::{KeyText, RANDOM_CHARACTERS};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::portal::Language;
use roadmap_domain::ports::Random;
use roadmap_domain::usecase::sign_in::StartSignIn;

use crate::system::SystemRandom;

/// Generates the text of a new API key.
pub(crate) fn generate_api_key() -> anyhow::Result<KeyText> {
    KeyText::from_random(&SystemRandom.base62(RANDOM_CHARACTERS))
        .ok_or_else(|| anyhow::anyhow!("the random source returned an invalid key"))
}

/// Returns a sign-in of this address, whose link is shown instead of mailed.
pub(crate) fn start_sign_in(email: EmailAddress) -> StartSignIn {
    StartSignIn { email, browser: None, browser_name: None, action: None, next: None, language: Language::default() }
}
