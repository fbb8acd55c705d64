DROP FUNCTION cast_votes(
    uuid, bigint, text[], bigint[], uuid[], bigint[], timestamptz[], uuid[], text[], text[], text[], text[], uuid[],
    uuid[], text[]
);
