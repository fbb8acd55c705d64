-- The name that the operator lets the workspace's mail come from. NULL: `<product> via <service>`.
ALTER TABLE settings ADD COLUMN sender_name TEXT;
-- Where replies to its mail go. NULL: to the sender.
ALTER TABLE portal_settings ADD COLUMN reply_to TEXT;
-- The language of the pages that a customer has used last. Mail is in the chosen language, else in this one.
ALTER TABLE customers ADD COLUMN last_language TEXT;
