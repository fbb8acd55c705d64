//! The tables, as diesel uses them. Columns that only the database reads or writes are left out.

diesel::table! {
    workspaces (id) {
        id -> Uuid,
        subdomain -> Text,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    settings (workspace_id) {
        workspace_id -> Uuid,
        product_name -> Text,
        website_url -> Text,
        sender_name -> Nullable<Text>,
    }
}

diesel::table! {
    synonyms (workspace_id, group_number, position) {
        workspace_id -> Uuid,
        group_number -> Integer,
        position -> Integer,
        phrase -> Text,
    }
}

diesel::table! {
    api_keys (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Uuid,
        name -> Text,
        digest -> Binary,
        last_four -> Text,
        can_read -> Bool,
        can_write -> Bool,
        can_manage -> Bool,
        created_at -> Timestamptz,
        expires_at -> Nullable<Timestamptz>,
        revoked_at -> Nullable<Timestamptz>,
        last_used_at -> Nullable<Timestamptz>,
        made_by -> Nullable<Uuid>,
    }
}

diesel::table! {
    members (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Uuid,
        email -> Text,
        email_folded -> Text,
        name -> Text,
        role -> Text,
        created_at -> Timestamptz,
        removed_at -> Nullable<Timestamptz>,
        team_mail -> Text,
        told_until -> Timestamptz,
        saved_views -> Text,
        shortcuts -> Bool,
    }
}

diesel::table! {
    lanes (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Uuid,
        name -> Text,
        kind -> Text,
        names -> Text,
        position -> BigInt,
    }
}

diesel::table! {
    tracks (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Uuid,
        name -> Text,
        lane_id -> Nullable<Uuid>,
        position -> BigInt,
    }
}

diesel::table! {
    changelogs (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Uuid,
        title -> Text,
        content -> Text,
        cover_attachment_id -> Nullable<Uuid>,
        category -> Nullable<Text>,
        published_at -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
        notified -> Bool,
        notifies -> Bool,
        to_announce -> Bool,
    }
}

diesel::table! {
    changelog_feature_requests (workspace_id, changelog_id, request_id) {
        workspace_id -> Uuid,
        changelog_id -> Uuid,
        request_id -> Uuid,
        position -> BigInt,
    }
}

diesel::table! {
    feature_requests (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Uuid,
        tag_number -> BigInt,
        title -> Text,
        description_text -> Text,
        track_id -> Uuid,
        private -> Bool,
        awaiting_approval -> Bool,
        root_id -> Nullable<Uuid>,
        handled_at -> Nullable<Timestamptz>,
        status_since -> Timestamptz,
        attention -> Nullable<Text>,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    vote_tallies (workspace_id, request_id) {
        workspace_id -> Uuid,
        request_id -> Uuid,
        votes_count -> BigInt,
    }
}

diesel::table! {
    votes (workspace_id, request_id, customer_id) {
        workspace_id -> Uuid,
        request_id -> Uuid,
        customer_id -> Uuid,
        subscribed -> Bool,
    }
}

diesel::table! {
    notes (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Uuid,
        request_id -> Uuid,
    }
}

diesel::table! {
    links (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Uuid,
        request_id -> Uuid,
        url -> Text,
        issue -> Text,
        title -> Nullable<Text>,
        state -> Nullable<Text>,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
        reported_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    link_sources (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Uuid,
        name -> Text,
        kind -> Text,
        sealed_secret -> Text,
        closed_track_id -> Nullable<Uuid>,
        notify_all_voters -> Bool,
        enabled -> Bool,
        last_received_at -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    webhooks (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Uuid,
        sealed_url -> Text,
        sealed_secrets -> Text,
        description -> Text,
        format -> Text,
        events -> Nullable<Text>,
        include_private -> Bool,
        include_emails -> Bool,
        enabled -> Bool,
        disabled_because -> Nullable<Text>,
        enabled_at -> Timestamptz,
        disabled_at -> Nullable<Timestamptz>,
        failing_since -> Nullable<Timestamptz>,
        failed_tries -> Integer,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    webhook_deliveries (workspace_id, webhook_id, event_id) {
        workspace_id -> Uuid,
        webhook_id -> Uuid,
        event_id -> Uuid,
        kind -> Text,
        state -> Text,
        failure -> Nullable<Text>,
        due_at -> Nullable<Timestamptz>,
        leased_until -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    webhook_attempts (workspace_id, webhook_id, event_id, number) {
        workspace_id -> Uuid,
        webhook_id -> Uuid,
        event_id -> Uuid,
        number -> Integer,
        status -> Nullable<Integer>,
        error -> Nullable<Text>,
        duration_ms -> BigInt,
        response -> Nullable<Text>,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    comments (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Uuid,
        request_id -> Uuid,
    }
}

diesel::table! {
    customers (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Uuid,
        email_folded -> Text,
        name -> Nullable<Text>,
        name_folded -> Nullable<Text>,
        last_language -> Nullable<Text>,
    }
}

diesel::table! {
    search_documents (workspace_id, request_id) {
        workspace_id -> Uuid,
        request_id -> Uuid,
    }
}

diesel::table! {
    outdated_documents (workspace_id, request_id) {
        workspace_id -> Uuid,
        request_id -> Uuid,
    }
}

diesel::table! {
    feature_request_events (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Uuid,
        request_id -> Uuid,
        kind -> Text,
        details -> Text,
        actor_kind -> Text,
        actor_id -> Nullable<Uuid>,
        actor_name -> Text,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    audit_entries (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Uuid,
        created_at -> Timestamptz,
        actor_kind -> Text,
        actor_id -> Nullable<Uuid>,
        actor_name -> Text,
        channel -> Text,
        request_id -> Nullable<Text>,
        action -> Text,
        subject_kind -> Text,
        subject_id -> Nullable<Uuid>,
        changes -> Text,
    }
}

diesel::table! {
    operations (workspace_id, operation_key) {
        workspace_id -> Uuid,
        operation_key -> Text,
        status -> Integer,
        body -> Binary,
    }
}

diesel::table! {
    outbox (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Text,
        kind -> Text,
        customer_id -> Nullable<Uuid>,
        address -> Nullable<Text>,
        due_at -> Nullable<Timestamptz>,
        leased_until -> Nullable<Timestamptz>,
        attempts -> Integer,
        sent_at -> Nullable<Timestamptz>,
        failure -> Nullable<Text>,
        answer -> Nullable<Text>,
        digest_id -> Nullable<Text>,
    }
}

diesel::table! {
    attachments (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Uuid,
        filename -> Text,
        content_type -> Text,
        byte_size -> BigInt,
        checksum -> Binary,
        key -> Text,
        service_name -> Text,
        width -> Nullable<BigInt>,
        height -> Nullable<BigInt>,
        picture_by -> Nullable<Text>,
        created_at -> Timestamptz,
        job_id -> Nullable<Uuid>,
    }
}

diesel::table! {
    exports (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Uuid,
        state -> Text,
        without_people -> Bool,
        without_notes -> Bool,
        holder -> Uuid,
        created_at -> Timestamptz,
        seen_at -> Timestamptz,
        ended_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    text_pictures (workspace_id, record_id, attachment_id) {
        workspace_id -> Uuid,
        record_id -> Uuid,
        attachment_id -> Uuid,
    }
}

diesel::table! {
    workspace_usage (workspace_id) {
        workspace_id -> Uuid,
        record_bytes -> BigInt,
        file_bytes -> BigInt,
        counted_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    portal_settings (workspace_id) {
        workspace_id -> Uuid,
        access -> Text,
        mail_domains -> Array<Text>,
        embed_origins -> Array<Text>,
        languages -> Array<Text>,
        is_indexed -> Bool,
        holds_posts -> Bool,
        accent -> Nullable<Text>,
        reply_to -> Nullable<Text>,
        time_zone -> Text,
        welcome_text -> Text,
        form_question -> Text,
        noun -> Text,
        logo_attachment_id -> Nullable<Uuid>,
    }
}

diesel::table! {
    held_comments (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Uuid,
        request_id -> Uuid,
    }
}

diesel::table! {
    sessions (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Uuid,
        email_folded -> Text,
        browser_name -> Nullable<Text>,
        created_at -> Timestamptz,
        last_seen_at -> Timestamptz,
    }
}

diesel::table! {
    counted_mails (workspace_id, mail, counter) {
        workspace_id -> Uuid,
        mail -> Uuid,
        counter -> Binary,
        asked_at -> Timestamptz,
    }
}

diesel::table! {
    confirmed_addresses (workspace_id, email_folded) {
        workspace_id -> Uuid,
        email_folded -> Text,
        confirmed_at -> Timestamptz,
    }
}

diesel::table! {
    sign_ins (workspace_id, id) {
        workspace_id -> Uuid,
        id -> Uuid,
        email -> Text,
        email_folded -> Text,
        browser_digest -> Nullable<Binary>,
        browser_name -> Nullable<Text>,
        action -> Nullable<Text>,
        next -> Nullable<Text>,
        language -> Text,
        wrong_codes -> BigInt,
        created_at -> Timestamptz,
        consumed_at -> Nullable<Timestamptz>,
        has_mail -> Bool,
    }
}

diesel::table! {
    tag_counters (workspace_id) {
        workspace_id -> Uuid,
        last_tag_number -> BigInt,
    }
}

diesel::allow_tables_to_appear_in_same_query!(feature_requests, vote_tallies, tracks, lanes, votes, outbox);
diesel::allow_tables_to_appear_in_same_query!(settings, portal_settings, attachments, changelogs);
