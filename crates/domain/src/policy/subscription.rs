//! Whether a mail is still wanted.

use crate::model::mail::MailRecipient;

/// Whether the recipient has not stopped mail of this kind, and still has a subscribed vote for a feature request of the topic
/// or follows one.
fn gets_as_subscriber(recipient: &MailRecipient) -> bool {
    !recipient.is_stopped && recipient.is_subscribed == Some(true)
}

/// Whether a notification is still wanted: by a subscriber, or by somebody who gets all changelogs.
#[must_use]
pub fn is_wanted(recipient: &MailRecipient) -> bool {
    gets_as_subscriber(recipient) || recipient.wants_news
}

/// Whether a notification is wanted by somebody who gets all changelogs only.
#[must_use]
pub fn is_news(recipient: &MailRecipient) -> bool {
    !gets_as_subscriber(recipient) && recipient.wants_news
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::email_address::EmailAddress;
    use crate::model::id::{CommentId, CustomerId};
    use crate::model::mail::{MailId, Topic};
    use uuid::Uuid;

    #[test]
    fn a_mail_is_wanted_by_subscribers_and_by_those_who_asked_for_news() {
        for (is_stopped, is_subscribed, wants_news, expected) in [
            (false, Some(true), false, (true, false)),
            (false, Some(false), false, (false, false)),
            (false, None, false, (false, false)),
            (true, Some(true), false, (false, false)),
            (true, None, false, (false, false)),
            (false, Some(true), true, (true, false)),
            (true, Some(true), true, (true, true)),
            (false, None, true, (true, true)),
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
                wants_news,
                recent_count: 0,
            };
            assert_eq!((is_wanted(&recipient), is_news(&recipient)), expected, "{is_stopped} {is_subscribed:?}");
        }
    }
}
