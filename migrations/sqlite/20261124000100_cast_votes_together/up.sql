-- Votes of one writer share its commit here: nothing to do.
SELECT 1;
