DROP TRIGGER note_update ON comments;
DROP TRIGGER note_change ON comments;
DROP TRIGGER note_update ON feature_requests;
DROP TRIGGER note_change ON feature_requests;
DROP FUNCTION note_change_of_comment();
DROP FUNCTION note_change_of_request();
DROP FUNCTION number_changes(uuid, bigint);
DROP TABLE changes;
DROP TABLE change_counters;
