//! The suite that every store must pass. Each case gets a fresh store and panics on failure.
//!
//! A bug that is found in one store gets a case here, so that every store is tested for it.

/// Declares the cases of a file of this suite, so that a new case touches its file only: `cases!($ votes { a_case, })` at
/// the end of `votes.rs`. The dollar sign is passed on to the macro that this defines.
macro_rules! cases {
    ($dollar:tt $module:ident { $($case:ident,)+ }) => {
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $module {
            ($dollar subject:path) => {
                mod $module {
                    $(
                        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                        async fn $case() {
                            let harness = $crate::harness::Harness::new($dollar subject().await);
                            $crate::contract::$module::$case(harness).await;
                        }
                    )+
                }
            };
        }
    };
}
pub(crate) use cases;

pub mod addresses;
pub mod admin;
pub mod admin_customers;
pub mod admin_overview;
pub mod admin_pages;
pub mod approval;
pub mod attachments;
pub mod audit;
pub mod board;
pub mod changelogs;
pub mod changes;
pub mod cursors;
pub mod customers;
pub mod import_runs;
pub mod imports;
pub mod jobs;
pub mod link_sources;
pub mod links;
pub mod mail;
pub mod members;
pub mod merges;
pub mod moderation;
pub mod operations;
pub mod own_posts;
pub mod people;
pub mod pictures;
pub mod portal;
pub mod portal_lists;
pub mod provisioning;
pub mod records;
pub mod request_pages;
pub mod requests;
pub mod search;
pub mod sessions;
pub mod snapshots;
pub mod subscriptions;
pub mod tags;
pub mod team_mail;
pub mod tenancy;
pub mod usage;
pub mod votes;
pub mod webhooks;

/// Declares a test for every case: `contract_tests!(fresh)`, where `fresh` is an `async fn() -> Subject`.
#[macro_export]
macro_rules! contract_tests {
    ($subject:path) => {
        $crate::addresses!($subject);
        $crate::admin!($subject);
        $crate::admin_customers!($subject);
        $crate::admin_overview!($subject);
        $crate::admin_pages!($subject);
        $crate::approval!($subject);
        $crate::attachments!($subject);
        $crate::audit!($subject);
        $crate::board!($subject);
        $crate::changelogs!($subject);
        $crate::changes!($subject);
        $crate::cursors!($subject);
        $crate::customers!($subject);
        $crate::import_runs!($subject);
        $crate::imports!($subject);
        $crate::jobs!($subject);
        $crate::link_sources!($subject);
        $crate::links!($subject);
        $crate::mail!($subject);
        $crate::members!($subject);
        $crate::merges!($subject);
        $crate::moderation!($subject);
        $crate::operations!($subject);
        $crate::own_posts!($subject);
        $crate::people!($subject);
        $crate::pictures!($subject);
        $crate::portal!($subject);
        $crate::portal_lists!($subject);
        $crate::provisioning!($subject);
        $crate::records!($subject);
        $crate::request_pages!($subject);
        $crate::requests!($subject);
        $crate::search!($subject);
        $crate::sessions!($subject);
        $crate::snapshots!($subject);
        $crate::subscriptions!($subject);
        $crate::tags!($subject);
        $crate::team_mail!($subject);
        $crate::tenancy!($subject);
        $crate::usage!($subject);
        $crate::votes!($subject);
        $crate::webhooks!($subject);
    };
}
