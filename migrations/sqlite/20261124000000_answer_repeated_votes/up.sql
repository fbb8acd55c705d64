-- One statement reads a repeated vote and the number of votes here: nothing to do.
SELECT 1;
