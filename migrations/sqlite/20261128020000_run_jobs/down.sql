DROP TABLE exports;
DROP INDEX imports_to_do;
ALTER TABLE imports DROP COLUMN upload;
ALTER TABLE imports DROP COLUMN job;
DELETE FROM imports WHERE state = 'uploaded';
DROP INDEX files_of_jobs;
DELETE FROM attachments WHERE job_id IS NOT NULL;
ALTER TABLE attachments DROP COLUMN job_id;
