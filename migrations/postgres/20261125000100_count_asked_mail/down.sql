DROP FUNCTION nth_counted_mail(bytea, bigint);
DROP INDEX sign_ins_without_mail;
ALTER TABLE sign_ins DROP COLUMN has_mail;
DROP TABLE confirmed_addresses;
DROP TABLE counted_mails;
