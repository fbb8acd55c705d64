DROP TABLE outbox;
DROP TABLE operations;
