-- Since when a customer gets all changelogs, not only those about what the customer voted for or follows. NULL: not.
ALTER TABLE customers ADD COLUMN news_since timestamptz;
CREATE INDEX customers_with_news ON customers (workspace_id, id) WHERE news_since IS NOT NULL;
