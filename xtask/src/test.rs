//! `cargo xtask test`: runs all tests.

use roadmap_testkit::postgres::SERVER_VARIABLE;

use crate::postgres;
use crate::run::{WORKSPACE, cargo, require_program};

/// Parallel tests per processor: tests mostly wait for processes, limits and disks.
const TESTS_PER_PROCESSOR: usize = 5;

/// Prefixes of black-box tests that are independent of the store: SQL decides nothing that they assert, or they use
/// SQLite in both runs. They run only on SQLite here, and on PostgreSQL in `cargo xtask torture`.
pub(crate) const ONCE: [&str; 180] = [
    "admin_access::every_page_",
    "attachments::a_body_that_is_no_form_",
    "attachments::a_bucket_",
    "attachments::a_form_without_",
    "attachments::a_hundred_parts_",
    "attachments::a_megabyte_of_other_parts_",
    "attachments::a_storage_that_fails_",
    "attachments::an_interrupted_upload_",
    "attachments::an_upload_returns_",
    "attachments::an_uploaded_file_",
    "attachments::fifty_megabytes_",
    "attachments::only_raster_images_",
    "attachments::only_the_reference_",
    "attachments::parts_of_a_file_",
    "attachments::references_of_a_previous_",
    "attachments::the_first_file_",
    "attachments::the_sweep_removes_",
    "attachments::twenty_uploads_",
    "attachments::uploads_are_only_",
    "authentication::a_bearer_is_",
    "authentication::a_default_workspace_",
    "authentication::a_trusted_proxy_",
    "authentication::a_wrong_method_",
    "authentication::an_unknown_path_",
    "authentication::case_port_",
    "authentication::checks_run_",
    "authentication::contradicting_",
    "authentication::every_endpoint_",
    "authentication::every_response_carries_",
    "authentication::every_route_",
    "authentication::head_is_get_",
    "authentication::health_is_public_",
    "authentication::proxy_headers_",
    "authentication::the_beginnings_",
    "authentication::without_a_valid_key_",
    "backup::a_backup_",
    "backup::a_compressed_",
    "backup::a_database_that_appears_",
    "backup::a_log_without_",
    "backup::damaged_data_",
    "backup::nothing_is_overwritten_",
    "backup::what_an_interrupted_",
    "bad_input::a_body_",
    "bad_input::a_field_of_another_type_",
    "bad_input::a_nul_character_",
    "bad_input::a_path_that_names_",
    "bad_input::a_query_string_",
    "bad_input::all_json_syntax_",
    "bad_input::null_is_the_same_",
    "bad_input::numbers_of_pages_",
    "bad_input::only_plain_json_",
    "bad_input::query_strings_",
    "bad_input::the_table_of_fields_",
    "behind_proxies::",
    "changelogs::invalid_fields_",
    "changelogs::limits_count_",
    "changelogs::new_fields_of_",
    "changelogs::other_fields_",
    "changelogs::publishing_and_unpublishing_",
    "changes::invalid_parameters_",
    "commands::a_database_server_that_cannot_",
    "commands::a_guessable_secret_",
    "commands::a_service_prints_",
    "commands::a_service_without_a_workspace_",
    "commands::a_variable_that_",
    "commands::a_workspace_is_created_and_listed",
    "commands::an_invalid_setting_",
    "commands::an_invalid_value_",
    "commands::an_unknown_workspace_",
    "commands::an_unusable_listen_",
    "commands::durations_of_keys_",
    "commands::every_command_creates_",
    "commands::every_command_documents_",
    "commands::settings_come_from_",
    "commands::the_log_is_json_",
    "commands::the_packaged_settings_",
    "commands::without_json_a_list_",
    "commands::without_json_a_record_",
    "comments::content_has_up_to_",
    "comments::content_is_required_",
    "comments::invalid_fields_of_",
    "cursors::",
    "customers::invalid_names_",
    "decline::declining_needs_no_body",
    "demo::every_printed_request_",
    "demo::the_demo_rejects_",
    "demo::the_printed_",
    "doctor::a_base_url_",
    "doctor::a_file_that_",
    "doctor::a_locked_schema_",
    "doctor::a_login_with_",
    "doctor::a_mail_server_",
    "doctor::a_migration_that_",
    "doctor::a_proxy_that_",
    "doctor::a_secret_that_",
    "doctor::a_silent_database_",
    "doctor::a_storage_that_",
    "doctor::an_invalid_secret_",
    "doctor::an_unreachable_",
    "doctor::data_that_",
    "doctor::inconsistent_settings_",
    "doctor::invalid_settings_",
    "doctor::text_output_",
    "feature_request_detail::invalid_edits_",
    "feature_requests::invalid_fields_",
    "feature_requests::limits_count_",
    "feature_requests::other_fields_",
    "feature_requests::the_empty_fields_",
    "hostile_http::",
    "ip_address::",
    "lanes::invalid_fields_",
    "log::a_line_of_json_",
    "mail::a_test_mail_shows_",
    "mail::an_invalid_unsubscribe_link_",
    "mail::mail_is_from_",
    "mcp::a_key_sees_",
    "mcp::both_eras_",
    "mcp::callers_without_",
    "mcp::calls_are_",
    "mcp::every_",
    "mcp::messages_that_",
    "mcp::only_posts_",
    "mcp::prompts_put_",
    "mcp::resources_are_",
    "mcp::ten_jobs_",
    "mcp::the_",
    "mcp::wrong_arguments_",
    "mcp_bridge::",
    "merging::unmerging_needs_no_body",
    "metrics::an_address_that_",
    "metrics::counts_are_exact_",
    "metrics::every_metric_",
    "metrics::metrics_have_a_listener_",
    "metrics::no_personal_data_",
    "metrics::rejected_keys_",
    "metrics::sign_ins_start_",
    "metrics::version_and_",
    "openapi::",
    "operation_keys::deletions_have_no_",
    "operation_keys::every_endpoint_with_a_key_rejects_",
    "operation_keys::the_endpoints_with_keys_",
    "operation_keys::the_header_is_a_key_",
    "operation_keys::without_a_key_no_endpoint_",
    "pages::a_default_workspace_",
    "pages::a_feature_request_has_one_address",
    "pages::a_long_address_",
    "pages::an_unknown_host_",
    "pages::bad_parameters_",
    "pages::covers_of_",
    "pages::every_page_",
    "pages::feeds_and_sitemaps_",
    "pages::no_page_shows_",
    "pages::pages_of_visitors_",
    "pages::sentences_of_the_team_",
    "pages::workspaces_share_",
    "permissions::",
    "portal_settings::an_invalid_field_",
    "portal_settings::forged_and_foreign_",
    "portal_settings::the_settings_are_required_",
    "power_cuts::a_disk_that_fails_",
    "rate_limits::",
    "scopes::every_route_accepts_",
    "scopes::the_table_of_",
    "search::a_blank_query_",
    "search::a_misspelt_",
    "setting::a_refused_update_",
    "setting::a_setting_is_required_",
    "shutdown::",
    "subscriptions::invalid_fields_",
    "taking_part::a_slash_behind_",
    "taking_part::forms_of_other_origins_",
    "taking_part::programs_are_stopped_",
    "taking_part::without_cookies_",
    "traces::",
    "track_moves::an_invalid_track_id_",
    "tracks::invalid_fields_of_",
    "transport_security::",
    "upvotes::invalid_fields_",
    "votes::a_missing_or_blank_",
    "who_pays::a_filled_honeypot_",
];

/// Tests of outages, which always use PostgreSQL.
const ON_POSTGRES: &str = "outages::";

/// Further arguments go to the test binaries, such as a name to filter by
#[derive(Debug, clap::Args)]
pub(crate) struct Test {
    /// Arguments for the test binaries
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl Test {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        // The demo prints curl commands, which a test executes.
        require_program("curl", "curl", "install it with the system's package manager")?;
        let server = postgres::Server::find()?;
        let threads = std::thread::available_parallelism()?.get() * TESTS_PER_PROCESSOR;
        // The arguments may override it.
        let threads = threads.to_string();
        let mut environment = vec![(SERVER_VARIABLE, server.url.as_str()), ("RUST_TEST_THREADS", &threads)];
        cargo_test(&["--all-targets", "--"], &self.arguments, &environment)?;
        // Examples that must not compile. `--all-targets` leaves them out.
        cargo_test(&["--doc", "--"], &self.arguments, &environment)?;
        environment.push(("TEST_STORE", "postgres"));
        let mut again = vec!["--test", "api", "--", "--skip", ON_POSTGRES];
        again.extend(ONCE.iter().flat_map(|name| ["--skip", name]));
        cargo_test(&again, &self.arguments, &environment)
    }
}

/// Runs tests, with further arguments for their binaries.
pub(crate) fn cargo_test(what: &[&str], arguments: &[String], environment: &[(&str, &str)]) -> anyhow::Result<()> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    cargo(&[&["test"], &WORKSPACE[..], what, &arguments].concat(), environment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_run_once_exist() {
        for name in ONCE {
            let (module, test) = name.split_once("::").unwrap();
            let source = std::fs::read_to_string(crate::run::root().join(format!("tests/api/{module}.rs"))).unwrap();
            assert!(source.contains(&format!("fn {test}")), "{name}");
        }
    }
}
