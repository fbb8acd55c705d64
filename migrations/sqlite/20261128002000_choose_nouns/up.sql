-- What the pages of visitors call a feature request.
ALTER TABLE portal_settings ADD COLUMN noun TEXT NOT NULL DEFAULT 'feature_requests'
    CHECK (noun IN ('feature_requests', 'ideas'));
