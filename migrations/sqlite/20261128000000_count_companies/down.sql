DROP INDEX vote_tallies_by_companies;
ALTER TABLE vote_tallies DROP COLUMN companies_count;
DROP TABLE company_tallies;
DROP VIEW customer_companies;
