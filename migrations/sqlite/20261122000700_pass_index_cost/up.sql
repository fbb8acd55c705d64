-- On PostgreSQL this changes a function. Here the statements of the store are bounded, and the schema stays.
SELECT 1;
