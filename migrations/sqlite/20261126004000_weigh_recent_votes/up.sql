-- The sum of the weights of the votes for a tree, each customer's earliest one: 1 on 2026-01-01, doubled every 30 days. It
-- only changes with the votes, and orders feature requests by recent votes at any time.
ALTER TABLE vote_tallies ADD COLUMN trend REAL NOT NULL DEFAULT 0;

WITH voters AS (
    SELECT tally.workspace_id, coalesce(tally.root_id, tally.request_id) AS root,
           (min(votes.created_at) - 1767225600000) / 2592000000.0 AS half_lives
    FROM votes JOIN vote_tallies tally
      ON tally.workspace_id = votes.workspace_id AND tally.request_id = votes.request_id
    GROUP BY tally.workspace_id, root, votes.customer_id
), whole AS (
    -- At most five years, so that powers of two are integers.
    SELECT workspace_id, root, max(-60, min(60, half_lives)) AS half_lives,
           CAST(max(-60, min(60, half_lives)) + 60 AS INTEGER) - 60 AS whole
    FROM voters
), parts AS (
    SELECT workspace_id, root, whole, (half_lives - whole) * 0.6931471805599453 AS rest FROM whole
), weighed AS (
    -- The power of two, and the series of the exponential function of the rest.
    SELECT workspace_id, root, sum(
        CASE WHEN whole < 0 THEN 1.0 / (1 << -whole) ELSE 1.0 * (1 << whole) END
        * (1 + rest * (1 + rest / 2 * (1 + rest / 3 * (1 + rest / 4 * (1 + rest / 5 * (1 + rest / 6 * (1 + rest / 7
        * (1 + rest / 8 * (1 + rest / 9 * (1 + rest / 10 * (1 + rest / 11 * (1 + rest / 12))))))))))))
    ) AS trend
    FROM parts GROUP BY workspace_id, root
)
UPDATE vote_tallies SET trend = weighed.trend FROM weighed
WHERE weighed.workspace_id = vote_tallies.workspace_id AND weighed.root = vote_tallies.request_id;

CREATE INDEX vote_tallies_by_trend ON vote_tallies (workspace_id, track_id, votes_count >= 2, trend)
WHERE root_id IS NULL AND NOT private;
