DROP FUNCTION unfinished_erasures();
DROP TABLE erasures;
