-- On PostgreSQL this changes a function. Here the statements of the store change, and the schema stays.
SELECT 1;
