DROP INDEX customers_with_news;
ALTER TABLE customers DROP COLUMN news_since;
