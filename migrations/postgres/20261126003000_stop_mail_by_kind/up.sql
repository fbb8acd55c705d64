-- Whether a customer gets no changelogs. `mail_stopped_at` is about answers and changes of the status from now on: whoever
-- had stopped all mail gets neither. The stop of a block is that of `blocked_at`.
ALTER TABLE customers ADD COLUMN stops_changelogs boolean NOT NULL DEFAULT false;
UPDATE customers SET stops_changelogs = true WHERE mail_stopped_at IS NOT NULL AND mail_stopped_because <> 'blocked';
