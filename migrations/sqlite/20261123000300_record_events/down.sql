-- Mail that is about events cannot be sent any more.
DELETE FROM outbox WHERE kind IN ('status_change', 'status_change_audience');
DROP TABLE feature_request_events;
