//! Whether a mail is still wanted.

use crate::model::mail::MailRecipient;

/// Whether a notification is still wanted: its recipient has not stopped mail of this kind, and still has a subscribed vote
/// for a feature request of the topic or follows one.
#[must_use]
pub fn is_wanted(recipient: &MailRecipient) -> bool {
    !recipient.is_stopped && recipient.is_subscribed == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::email_address::EmailAddress;
    use crate::model::id::{CommentId, CustomerId};
    use crate::model::mail::{MailId, Topic};
    use uuid::Uuid;

    #[test]
    fn a_mail_is_wanted_by_subscribed_customers_whose_mail_is_not_stopped() {
        for (is_stopped, is_subscribed, expected) in [
            (false, Some(true), true),
            (false, Some(false), false),
            (false, None, false),
            (true, Some(true), false),
            (true, None, false),
        ] {
            let recipient = MailRecipient {
                mail: MailId {
                    topic: Topic::Comment(CommentId::new(Uuid::nil())),
                    customer: CustomerId::new(Uuid::nil()),
                },
                to: EmailAddress::parse("email", "ann@example.com").unwrap(),
                language: None,
                is_stopped,
                is_subscribed,
                recent_count: 0,
            };
            assert_eq!(is_wanted(&recipient), expected, "{is_stopped} {is_subscribed:?}");
        }
    }
}
