//! The tables, as `migrations/sqlite` creates them.

use diesel::{allow_tables_to_appear_in_same_query, table};

table! {
    workspaces (number) {
        number -> BigInt,
        id -> Binary,
        subdomain -> Text,
        created_at -> BigInt,
    }
}

table! {
    settings (workspace_id) {
        workspace_id -> Binary,
        product_name -> Text,
        website_url -> Text,
        sender_name -> Nullable<Text>,
    }
}

table! {
    synonyms (workspace_id, group_number, position) {
        workspace_id -> Binary,
        group_number -> Integer,
        position -> Integer,
        phrase -> Text,
    }
}

table! {
    api_keys (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        name -> Text,
        digest -> Binary,
        last_four -> Text,
        can_read -> Bool,
        can_write -> Bool,
        can_manage -> Bool,
        created_at -> BigInt,
        expires_at -> Nullable<BigInt>,
        revoked_at -> Nullable<BigInt>,
        last_used_at -> Nullable<BigInt>,
        made_by -> Nullable<Binary>,
    }
}

table! {
    members (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        email -> Text,
        email_folded -> Text,
        name -> Text,
        created_at -> BigInt,
        role -> Text,
        removed_at -> Nullable<BigInt>,
        team_mail -> Text,
        told_until -> BigInt,
        saved_views -> Text,
        shortcuts -> Bool,
    }
}

table! {
    lanes (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        name -> Text,
        kind -> Text,
        names -> Text,
        position -> BigInt,
    }
}

table! {
    tracks (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        name -> Text,
        lane_id -> Nullable<Binary>,
        position -> BigInt,
    }
}

table! {
    changelogs (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        title -> Text,
        content -> Text,
        cover_attachment_id -> Nullable<Binary>,
        category -> Nullable<Text>,
        published_at -> Nullable<BigInt>,
        created_at -> BigInt,
        updated_at -> BigInt,
        notified -> Bool,
        notifies -> Bool,
        to_announce -> Bool,
    }
}

table! {
    customers (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        email -> Text,
        email_folded -> Text,
        name -> Nullable<Text>,
        created_at -> BigInt,
        mail_stopped_at -> Nullable<BigInt>,
        mail_stopped_because -> Nullable<Text>,
        name_folded -> Nullable<Text>,
        language -> Nullable<Text>,
        blocked_at -> Nullable<BigInt>,
        last_language -> Nullable<Text>,
        stops_changelogs -> Bool,
        news_since -> Nullable<BigInt>,
        import_id -> Nullable<Binary>,
    }
}

table! {
    tag_counters (workspace_id) {
        workspace_id -> Binary,
        last_tag_number -> BigInt,
    }
}

table! {
    feature_requests (row_number) {
        row_number -> BigInt,
        workspace_id -> Binary,
        id -> Binary,
        tag_number -> BigInt,
        title -> Text,
        description -> Text,
        description_text -> Text,
        track_id -> Binary,
        author_id -> Nullable<Binary>,
        private -> Bool,
        created_at -> BigInt,
        merged_into_id -> Nullable<Binary>,
        root_id -> Nullable<Binary>,
        updated_at -> BigInt,
        awaiting_approval -> Bool,
        handled_at -> Nullable<BigInt>,
        status_since -> BigInt,
        attention -> Nullable<Text>,
    }
}

table! {
    feature_request_tags (workspace_id, request_id, position) {
        workspace_id -> Binary,
        request_id -> Binary,
        position -> BigInt,
        tag -> Text,
        tag_folded -> Text,
    }
}

table! {
    vote_tallies (row_number) {
        row_number -> BigInt,
        workspace_id -> Binary,
        request_id -> Binary,
        votes_count -> BigInt,
        track_id -> Binary,
        private -> Bool,
        root_id -> Nullable<Binary>,
        attention -> Nullable<Text>,
        trend -> Double,
        companies_count -> BigInt,
        nameless_votes -> BigInt,
    }
}

table! {
    votes (workspace_id, request_id, customer_id) {
        workspace_id -> Binary,
        request_id -> Binary,
        customer_id -> Binary,
        subscribed -> Bool,
        created_at -> BigInt,
        import_id -> Nullable<Binary>,
    }
}

table! {
    notes (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        request_id -> Binary,
        customer_id -> Nullable<Binary>,
        author_id -> Nullable<Binary>,
        body -> Text,
        created_at -> BigInt,
    }
}

table! {
    links (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        request_id -> Binary,
        url -> Text,
        issue -> Text,
        title -> Nullable<Text>,
        state -> Nullable<Text>,
        created_at -> BigInt,
        updated_at -> BigInt,
        reported_at -> Nullable<BigInt>,
    }
}

table! {
    link_sources (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        name -> Text,
        kind -> Text,
        sealed_secret -> Text,
        closed_track_id -> Nullable<Binary>,
        notify_all_voters -> Bool,
        enabled -> Bool,
        last_received_at -> Nullable<BigInt>,
        created_at -> BigInt,
        updated_at -> BigInt,
    }
}

table! {
    webhooks (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        sealed_url -> Text,
        sealed_secrets -> Text,
        description -> Text,
        format -> Text,
        events -> Nullable<Text>,
        include_private -> Bool,
        include_emails -> Bool,
        enabled -> Bool,
        disabled_because -> Nullable<Text>,
        enabled_at -> BigInt,
        disabled_at -> Nullable<BigInt>,
        failing_since -> Nullable<BigInt>,
        failed_tries -> Integer,
        created_at -> BigInt,
        updated_at -> BigInt,
    }
}

table! {
    webhook_events (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        kind -> Text,
        actor_kind -> Text,
        actor_id -> Nullable<Binary>,
        actor_name -> Text,
        data -> Text,
        snapshot -> Text,
        created_at -> BigInt,
        is_distributed -> Bool,
    }
}

table! {
    webhook_deliveries (workspace_id, webhook_id, event_id) {
        workspace_id -> Binary,
        webhook_id -> Binary,
        event_id -> Binary,
        kind -> Text,
        include_private -> Bool,
        include_emails -> Bool,
        priority -> Integer,
        state -> Text,
        failure -> Nullable<Text>,
        attempts -> Integer,
        tries -> Integer,
        due_at -> Nullable<BigInt>,
        leased_until -> Nullable<BigInt>,
        created_at -> BigInt,
    }
}

table! {
    webhook_attempts (workspace_id, webhook_id, event_id, number) {
        workspace_id -> Binary,
        webhook_id -> Binary,
        event_id -> Binary,
        number -> Integer,
        status -> Nullable<Integer>,
        error -> Nullable<Text>,
        duration_ms -> BigInt,
        response -> Nullable<Text>,
        created_at -> BigInt,
    }
}

table! {
    comments (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        request_id -> Binary,
        author_id -> Nullable<Binary>,
        content -> Text,
        created_at -> BigInt,
        customer_id -> Nullable<Binary>,
        updated_at -> BigInt,
    }
}

table! {
    held_comments (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        request_id -> Binary,
        customer_id -> Binary,
        content -> Text,
        created_at -> BigInt,
    }
}

table! {
    portal_settings (workspace_id) {
        workspace_id -> Binary,
        access -> Text,
        mail_domains -> Text,
        is_indexed -> Bool,
        embed_origins -> Text,
        languages -> Text,
        holds_posts -> Bool,
        accent -> Nullable<Text>,
        logo_attachment_id -> Nullable<Binary>,
        reply_to -> Nullable<Text>,
        time_zone -> Text,
        welcome_text -> Text,
        form_question -> Text,
        noun -> Text,
    }
}

table! {
    sessions (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        digest -> Binary,
        email -> Text,
        email_folded -> Text,
        browser_name -> Nullable<Text>,
        created_at -> BigInt,
        last_seen_at -> BigInt,
    }
}

table! {
    counted_mails (workspace_id, mail, counter) {
        workspace_id -> Binary,
        mail -> Binary,
        counter -> Binary,
        asked_at -> BigInt,
    }
}

table! {
    confirmed_addresses (workspace_id, email_folded) {
        workspace_id -> Binary,
        email_folded -> Text,
        confirmed_at -> BigInt,
    }
}

table! {
    sign_ins (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        email -> Text,
        email_folded -> Text,
        browser_digest -> Nullable<Binary>,
        browser_name -> Nullable<Text>,
        action -> Nullable<Text>,
        next -> Nullable<Text>,
        language -> Text,
        wrong_codes -> BigInt,
        created_at -> BigInt,
        consumed_at -> Nullable<BigInt>,
        has_mail -> Bool,
    }
}

table! {
    followers (workspace_id, request_id, customer_id) {
        workspace_id -> Binary,
        request_id -> Binary,
        customer_id -> Binary,
        created_at -> BigInt,
    }
}

table! {
    feature_request_events (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        request_id -> Binary,
        kind -> Text,
        details -> Text,
        actor_kind -> Text,
        actor_id -> Nullable<Binary>,
        actor_name -> Text,
        created_at -> BigInt,
    }
}

table! {
    audit_entries (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        created_at -> BigInt,
        actor_kind -> Text,
        actor_id -> Nullable<Binary>,
        actor_name -> Text,
        channel -> Text,
        request_id -> Nullable<Text>,
        action -> Text,
        subject_kind -> Text,
        subject_id -> Nullable<Binary>,
        changes -> Text,
    }
}

table! {
    changelog_feature_requests (workspace_id, changelog_id, request_id) {
        workspace_id -> Binary,
        changelog_id -> Binary,
        request_id -> Binary,
        position -> BigInt,
    }
}

table! {
    track_tallies (workspace_id, track_id) {
        workspace_id -> Binary,
        track_id -> Binary,
        all_count -> BigInt,
        public_count -> BigInt,
        unanswered_count -> BigInt,
        replied_count -> BigInt,
    }
}

table! {
    missed_searches (workspace_id, day, words) {
        workspace_id -> Binary,
        day -> BigInt,
        words -> Text,
        count -> BigInt,
    }
}

table! {
    operations (workspace_id, operation_key) {
        workspace_id -> Binary,
        operation_key -> Text,
        status -> Integer,
        body -> Binary,
        created_at -> BigInt,
    }
}

table! {
    outbox (workspace_id, id) {
        workspace_id -> Binary,
        id -> Text,
        kind -> Text,
        priority -> Integer,
        customer_id -> Nullable<Binary>,
        address -> Nullable<Text>,
        payload -> Text,
        created_at -> BigInt,
        due_at -> Nullable<BigInt>,
        leased_until -> Nullable<BigInt>,
        attempts -> Integer,
        tried_at -> Nullable<BigInt>,
        sent_at -> Nullable<BigInt>,
        failure -> Nullable<Text>,
        answer -> Nullable<Text>,
        digest_id -> Nullable<Text>,
        request_id -> Nullable<Text>,
    }
}

table! {
    mail_hours (workspace_id, hour) {
        workspace_id -> Binary,
        hour -> BigInt,
        mails -> BigInt,
    }
}

table! {
    attachments (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        filename -> Text,
        content_type -> Text,
        byte_size -> BigInt,
        checksum -> Binary,
        key -> Text,
        service_name -> Text,
        width -> Nullable<BigInt>,
        height -> Nullable<BigInt>,
        picture_by -> Nullable<Text>,
        created_at -> BigInt,
        job_id -> Nullable<Binary>,
    }
}

table! {
    exports (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        state -> Text,
        without_people -> Bool,
        without_notes -> Bool,
        holder -> Binary,
        created_at -> BigInt,
        seen_at -> BigInt,
        ended_at -> Nullable<BigInt>,
    }
}

table! {
    text_pictures (workspace_id, record_id, attachment_id) {
        workspace_id -> Binary,
        record_id -> Binary,
        attachment_id -> Binary,
    }
}

table! {
    workspace_usage (workspace_id) {
        workspace_id -> Binary,
        record_bytes -> BigInt,
        file_bytes -> BigInt,
        counted_at -> Nullable<BigInt>,
    }
}

table! {
    search_documents (row_number) {
        row_number -> BigInt,
        workspace_id -> Binary,
        request_id -> Binary,
        title -> Text,
        tags -> Text,
        description -> Text,
        version -> Integer,
    }
}

table! {
    outdated_documents (workspace_id, request_id) {
        workspace_id -> Binary,
        request_id -> Binary,
    }
}

table! {
    search_trigrams (workspace_id, trigram, word) {
        workspace_id -> Binary,
        trigram -> Text,
        word -> Text,
    }
}

table! {
    erasures (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        digest -> Text,
        votes -> Text,
        texts -> Text,
        erased_at -> BigInt,
        words -> Nullable<Text>,
        is_finished -> Bool,
    }
}

table! {
    imports (workspace_id, id) {
        workspace_id -> Binary,
        id -> Binary,
        job -> Nullable<Text>,
        upload -> Nullable<Text>,
        progress -> Text,
        report -> Nullable<Text>,
    }
}

allow_tables_to_appear_in_same_query!(
    workspaces,
    settings,
    api_keys,
    lanes,
    tracks,
    customers,
    feature_requests,
    vote_tallies,
    votes,
    search_documents,
    outbox,
    mail_hours,
    attachments,
    changelogs,
    track_tallies,
    portal_settings,
);
