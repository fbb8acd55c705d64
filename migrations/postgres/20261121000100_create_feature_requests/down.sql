DROP TABLE comments;
DROP TABLE notes;
DROP TABLE votes;
DROP FUNCTION add_vote(uuid, uuid, uuid, timestamptz);
DROP TABLE vote_tallies;
DROP TABLE feature_request_tags;
DROP TABLE feature_requests;
DROP TABLE tag_counters;
DROP TABLE customers;
