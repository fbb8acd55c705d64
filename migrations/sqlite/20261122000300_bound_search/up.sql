-- On PostgreSQL this adds functions. Here the statements of the store are bounded, and the schema stays.
-- The index merges 64 pages at a time: smaller pages make the pauses of the writing connection shorter.
INSERT INTO search_index (search_index, rank) VALUES ('pgsz', 1000);
