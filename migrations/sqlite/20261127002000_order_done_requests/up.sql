-- The public feature requests of a track, the one that has its status for the shortest time last.
CREATE INDEX feature_requests_by_status ON feature_requests (workspace_id, track_id, status_since)
WHERE root_id IS NULL AND NOT private;
