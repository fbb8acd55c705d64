//! The suite that every store must pass. Each case gets a fresh store and panics on failure.
//!
//! A bug that is found in one store gets a case here, so that every store is tested for it.

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
pub mod mail;
pub mod members;
pub mod merges;
pub mod moderation;
pub mod operations;
pub mod portal;
pub mod portal_lists;
pub mod provisioning;
pub mod records;
pub mod request_pages;
pub mod requests;
pub mod search;
pub mod sessions;
pub mod subscriptions;
pub mod tenancy;
pub mod usage;
pub mod votes;

/// Declares a test for every case: `contract_tests!(fresh)`, where `fresh` is an `async fn() -> Subject`.
#[macro_export]
macro_rules! contract_tests {
    ($subject:path) => {
        $crate::contract_tests!(@ $subject =>
            addresses::{
                a_mailbox_is_one_in_all_spellings,
                stored_addresses_are_folded_again,
                double_members_are_named,
            },
            admin::{
                random_inboxes_equal_a_model,
                inbox_counts_equal_a_recount,
                the_last_word_decides,
                a_declined_idea_stays_private,
                unindexed_requests_are_found,
                inboxes_belong_to_their_workspace,
                a_selection_is_changed_at_once,
                a_selection_leaves_out_what_is_merged_meanwhile,
            },
            admin_customers::{
                a_merged_customer_gives_everything_away,
                votes_of_merged_customers_count_once,
                mail_to_merged_customers_stays_stopped,
                sent_mail_outlives_its_customer,
                rejected_merges_of_customers_change_nothing,
                random_merges_of_customers_are_exact,
                tallies_are_exact_while_customers_are_merged,
            },
            admin_overview::{
                random_overviews_equal_a_recount,
                the_edges_of_a_period_are_exact,
                lists_of_an_overview_are_bounded,
                missed_searches_are_counted,
                missed_searches_of_a_day_are_limited,
                concurrent_missed_searches_are_all_counted,
                old_missed_searches_are_purged,
            },
            admin_pages::{
                a_team_page_shows_notes_and_voters,
                customers_of_comments_are_found,
                subscribers_are_those_who_get_mail,
                a_preview_equals_the_merge,
                records_of_a_customer_are_listed,
                records_of_a_customer_are_bounded,
            },
            approval::{
                a_held_comment_is_hidden_until_it_is_approved,
                a_held_comment_is_approved_or_discarded_once,
                held_comments_belong_to_their_workspace,
                held_comments_follow_their_request,
                a_held_idea_is_hidden_until_it_is_approved,
                what_waits_is_listed_oldest_first,
                a_comment_is_deleted_while_it_is_approved,
                an_approval_follows_the_undoing_of_a_merge,
            },
            attachments::{
                a_file_is_returned_as_it_was_stored,
                a_cover_belongs_to_its_workspace,
                blobs_without_rows_are_found,
                unused_files_are_deleted_oldest_first,
                a_file_that_becomes_a_cover_is_kept,
                a_deleted_file_cannot_become_a_cover,
                only_unused_files_are_deleted,
                a_file_is_deleted_or_used,
            },
            audit::{
                an_entry_is_returned_as_it_was_stored,
                entries_are_filtered_and_paged,
                operations_leave_entries,
                young_entries_are_never_purged,
            },
            board::{
                lanes_are_added_renamed_moved_and_removed,
                tracks_are_added_changed_and_removed,
                a_removed_track_moves_its_requests,
                counts_equal_a_recount,
                requests_of_a_track_are_sorted,
                concurrent_changes_of_the_board_are_all_kept,
                no_request_is_lost_with_its_track,
            },
            changelogs::{
                a_changelog_is_scheduled_and_published,
                sent_fields_of_a_changelog_change,
                overlapping_changes_of_a_changelog_keep_its_cover,
                linked_requests_lead_to_their_targets,
                a_deleted_changelog_leaves_nothing,
            },
            changes::{
                all_requests_are_listed_by_their_last_change,
                a_place_is_after_everything_that_was_read,
                hidden_records_are_listed_as_deleted,
                all_comments_are_listed_by_their_last_change,
                merged_requests_are_listed_themselves,
                requests_of_a_track_are_listed_by_change,
            },
            cursors::{lists_in_parts_are_the_whole_list},
            customers::{
                customers_are_listed_with_their_votes,
                customers_are_found_by_a_part_of_name_or_address,
                a_customer_gets_another_name,
            },
            mail::{
                a_mail_is_leased_to_one_worker,
                concurrent_workers_share_the_mails,
                the_outcome_of_an_expired_lease_is_rejected,
                a_deferred_mail_waits_without_an_attempt,
                a_postponed_mail_waits,
                dead_mail_can_be_retried,
                a_big_audience_is_expanded_in_batches,
                unsubscribed_voters_get_nothing,
                a_mail_is_not_retried_after_its_recipient_unsubscribes,
                a_mail_without_its_vote_is_deleted,
                an_unreadable_row_delays_no_other_mail,
                mails_to_one_customer_are_counted_by_the_hour,
                held_mails_go_out_as_one_digest,
                a_dead_digest_makes_its_mails_dead,
                mails_of_a_day_are_limited,
                concurrent_comments_share_the_budget_of_a_day,
                mail_is_counted_over_all_workspaces,
                sent_mails_are_purged,
                mail_belongs_to_its_workspace,
                messages_of_all_kinds_share_one_queue,
                the_state_of_a_message_can_be_looked_up,
                an_audience_is_expanded_under_its_lease_alone,
                a_mail_is_not_held_for_a_digest_that_was_leased,
                unsubscribing_deletes_waiting_digests,
                a_new_status_is_mailed_to_subscribers,
                a_changelog_is_mailed_once_to_each_customer,
                big_audiences_of_trees_have_no_doubles,
                an_unpublished_changelog_is_not_mailed,
                deleting_a_record_deletes_its_unsent_mail,
                waiting_mail_follows_edits,
                mail_follows_merges,
                an_ended_subscription_takes_mail_of_all_kinds_back,
                a_digest_has_entries_of_all_kinds,
            },
            members::{
                members_have_roles,
                the_last_admin_stays,
                a_removed_member_leaves_its_name,
            },
            merges::{
                a_merge_is_a_link,
                voters_of_a_tree_are_listed_once,
                a_reference_to_the_source_acts_on_the_target,
                comments_of_a_tree_come_in_order_of_time,
                private_words_do_not_show,
                lists_leave_merged_requests_out,
                any_order_of_undoing_is_exact,
                rejected_merges_change_nothing,
                concurrent_merges_make_no_cycle,
                a_merge_follows_a_publication,
                deleting_a_part_of_a_tree,
                random_histories_equal_a_model,
                tallies_are_exact_while_requests_are_merged,
            },
            moderation::{
                removed_texts_are_hidden_and_restored_exactly,
                removals_are_bounded_and_keep_later_edits,
                removed_texts_follow_their_records_and_are_purged,
                blocks_stop_mail_until_they_end,
                a_block_survives_a_merge_of_customers,
            },
            operations::{
                one_of_many_concurrent_duplicates_runs,
                a_failed_run_frees_its_key,
                a_dropped_run_frees_its_key_at_once,
                an_abandoned_waiter_holds_no_lock,
                keys_belong_to_their_workspace,
                a_key_is_replayed_for_any_operation,
                saved_responses_are_replayed_byte_for_byte,
                expired_responses_are_purged_in_batches,
                committed_writes_are_visible_to_readers,
            },
            portal::{
                settings_of_a_portal_are_stored,
                concurrent_changes_of_a_portal_are_all_kept,
                a_logo_is_in_use,
                a_file_is_deleted_or_the_logo,
                changelogs_are_shown_once_they_are_public,
                changelogs_show_public_requests_only,
                only_covers_and_the_logo_are_public,
                an_account_lists_what_belongs_to_it,
                the_sitemap_has_all_public_requests,
                nothing_is_shown_to_another_portal,
            },
            portal_lists::{
                lists_are_sorted,
                tags_are_found_regardless_of_case,
                own_requests_are_listed,
                rows_keep_the_given_order,
                random_lists_equal_a_model,
            },
            provisioning::{
                a_workspace_starts_with_its_lanes_and_tracks,
                names_are_unique_in_their_scope,
                settings_are_replaced,
                synonyms_are_replaced,
                a_key_is_valid_in_its_own_workspace_only,
                digests_are_listed_by_workspace,
                a_key_s_use_is_recorded_once_a_minute,
                keys_of_a_member_are_revoked,
                revoked_and_rotated_keys_get_their_timestamps,
                a_key_is_not_rotated_while_it_is_revoked,
            },
            records::{
                a_request_shows_all_of_its_fields,
                only_changes_of_the_request_itself_update_it,
                the_index_follows_an_edit,
                visibility_decides_what_is_found,
                concurrent_edits_follow_each_other,
                overlapping_moves_follow_each_other,
                a_move_follows_a_merge,
                comments_name_their_authors,
                comments_are_edited_and_deleted,
                notes_name_their_authors_and_customers,
                events_are_listed_newest_first_and_by_kind,
                a_deleted_request_takes_everything_with_it,
            },
            request_pages::{
                a_page_shows_everything_of_a_request,
                comments_of_a_page_are_paged,
                the_latest_comment_of_the_team_is_the_answer,
                a_page_names_private_sources_to_members_only,
                the_latest_events_are_shown,
                a_page_shows_the_viewer_s_vote_and_subscription,
                private_requests_are_visible_to_members_and_authors,
            },
            requests::{
                tag_numbers_count_up_without_gaps_or_repeats,
                a_request_is_found_by_id_and_by_number,
                the_status_follows_the_track,
                a_rolled_back_request_leaves_nothing,
                each_comment_is_mailed_to_subscribed_voters_once,
                a_rolled_back_comment_sends_nothing,
                changelogs_come_newest_first,
            },
            search::{
                words_are_found_wherever_they_stand,
                a_request_without_words_is_no_trouble,
                better_and_more_wanted_matches_come_first,
                better_coverage_comes_first,
                other_spellings_and_phrases_are_found,
                all_scripts_and_signs_are_searched,
                typing_errors_are_corrected,
                no_syntax_leaks_through,
                private_requests_are_never_found,
                a_record_adds_a_bounded_number_of_words,
                common_words_find_the_most_wanted,
                young_common_words_are_found_within_the_budget,
                results_equal_those_of_the_index_in_memory,
                outdated_documents_are_indexed_again,
                a_target_is_found_by_the_words_of_its_sources,
            },
            sessions::{
                a_sign_in_is_returned_as_it_was_stored,
                the_latest_sign_in_of_a_browser_is_found,
                asked_mails_are_counted_over_all_workspaces,
                addresses_are_known_by_members_and_redeemed_sign_ins,
                concurrent_sign_ins_are_limited,
                old_sign_ins_are_deleted,
                a_sign_in_is_used_once,
                a_sign_in_expires,
                few_codes_may_be_compared,
                a_kept_action_is_done_with_its_sign_in,
                a_sign_in_is_mailed_while_it_is_open,
                a_session_has_what_its_address_means_now,
                sessions_of_a_member_end_with_its_role,
                sessions_are_listed_by_their_last_use,
                only_own_sessions_are_ended,
                all_sessions_of_an_address_end,
                unused_sessions_are_deleted,
                own_settings_are_saved,
                names_beside_public_posts_are_held,
            },
            subscriptions::{
                unsubscribing_deletes_waiting_mail,
                a_rolled_back_unit_unsubscribes_nobody,
                an_unknown_customer_is_not_unsubscribed,
                customers_subscribe_without_a_vote,
                a_withdrawn_vote_ends_its_subscription,
                stopped_mail_stays_stopped,
                subscriptions_of_a_tree_belong_together,
                an_unsubscription_survives_a_merge_of_customers,
                the_author_gets_every_answer,
            },
            tenancy::{
                nothing_is_seen_from_another_workspace,
                nothing_is_changed_from_another_workspace,
                records_of_another_workspace_are_unknown,
            },
            usage::{
                a_recount_equals_the_sum_of_the_estimates,
                deleted_rows_are_not_counted,
                edits_and_merges_add_no_more_than_estimated,
                existing_rows_are_not_counted_twice,
                concurrent_additions_are_summed,
                a_total_is_never_too_small,
                usage_belongs_to_its_workspace,
            },
            votes::{
                a_second_vote_is_not_counted,
                concurrent_first_votes_make_one_customer,
                names_are_filled_but_not_overwritten,
                every_vote_stores_its_note,
                a_withdrawn_vote_is_not_counted,
                concurrent_votes_and_withdrawals_alternate,
                a_repeated_vote_is_among_the_counted_ones,
                concurrent_votes_have_their_own_results,
                a_vote_for_an_unknown_request_has_no_effect,
                notes_and_comments_fall_back_to_the_oldest_member,
                votes_are_listed_newest_request_first,
                voters_are_listed_latest_first,
                pages_past_the_last_are_empty,
                addresses_match_without_regard_to_case,
            },
        );
    };
    (@ $subject:path => $($module:ident::{$($case:ident),+ $(,)?}),+ $(,)?) => {$(
        mod $module {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    let harness = $crate::harness::Harness::new($subject().await);
                    $crate::contract::$module::$case(harness).await;
                }
            )+
        }
    )+};
}
