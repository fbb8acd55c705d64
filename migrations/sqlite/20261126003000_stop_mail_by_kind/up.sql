-- Whether a customer gets no changelogs. `mail_stopped_at` is about answers and changes of the status from now on: whoever
-- had stopped all mail gets neither. The stop of a block is that of `blocked_at`.
ALTER TABLE customers ADD COLUMN stops_changelogs INTEGER NOT NULL DEFAULT 0 CHECK (stops_changelogs IN (0, 1));
UPDATE customers SET stops_changelogs = 1 WHERE mail_stopped_at IS NOT NULL AND mail_stopped_because <> 'blocked';
