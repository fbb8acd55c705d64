-- On PostgreSQL this adds functions. Here the statements of the store are bounded, and the schema stays.
SELECT 1;
