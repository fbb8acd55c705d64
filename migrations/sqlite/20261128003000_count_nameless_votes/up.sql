-- How many votes of a feature request, itself, are those of people of whom nothing is known. Imports write it. The number of
-- votes of a root has those of its tree.
ALTER TABLE vote_tallies ADD COLUMN nameless_votes INTEGER NOT NULL DEFAULT 0 CHECK (nameless_votes >= 0);
