-- What a lane means, whatever its name.
ALTER TABLE lanes ADD COLUMN kind TEXT NOT NULL DEFAULT 'other';
UPDATE lanes SET kind = CASE
    WHEN lower(name) IN ('under consideration', 'considering', 'under review') THEN 'considering'
    WHEN lower(name) IN ('planned', 'accepted', 'next') THEN 'planned'
    WHEN lower(name) IN ('in progress', 'started', 'in beta', 'building') THEN 'started'
    WHEN lower(name) IN ('done', 'shipped', 'released', 'completed') THEN 'done'
    WHEN lower(name) IN ('declined', 'not planned') THEN 'declined'
    ELSE 'other'
END;
