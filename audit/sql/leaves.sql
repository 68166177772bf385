-- The leaves of a range of the log: up to `most` rows after `after_seq`, none beyond `upto_seq`.
-- `open` is the digest of all that outlives an erasure: the ids, the event, the actor, the times,
-- the place and time of the commit, the digests of text and reason, and the state without what tells
-- of a person. `closed` is that of the whole state, with the memory's salt; null once it is erased.
-- A row without a digest of its reason has the reason in `closed` too. Columns that
-- come later and are null in old rows leave the leaves of those as they are.
CREATE FUNCTION palimpsest_log_leaves(
    asked_team uuid, after_seq bigint, upto_seq bigint, most int
) RETURNS TABLE (
    seq bigint, memory_id uuid, open bytea, closed bytea, is_erased boolean, fits_text boolean,
    fits_reason boolean, commit_position bigint
)
LANGUAGE plpgsql STABLE ROWS 10000
SET TimeZone = 'UTC' SET bytea_output = 'hex' SET DateStyle = 'ISO' SET IntervalStyle = 'iso_8601'
SET extra_float_digits = 1
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT l.seq, l.memory_id,
        sha256(convert_to((
            jsonb_strip_nulls(to_jsonb(l) - ARRAY['state', 'reason', 'reason_salt'])
            || jsonb_build_object(
                'state', l.state - palimpsest_private_keys() - 'erased_at',
                'commit', jsonb_build_array(c.position, c.at)
            )
        )::text, 'UTF8')),
        CASE WHEN l.state->>'erased_at' IS NULL THEN sha256(
            coalesce(m.salt, ''::bytea) || convert_to(
                l.state::text
                    || CASE WHEN l.reason_digest IS NULL THEN E'\x1f' || l.reason ELSE '' END,
                'UTF8'
            )
        ) END,
        l.state->>'erased_at' IS NOT NULL,
        m.id IS NULL OR (
            CASE WHEN m.erased_at IS NULL
                THEN l.state->>'erased_at' IS NULL
                    AND l.digest = palimpsest_text_digest(m.salt, m.content)
                ELSE l.state->>'erased_at' IS NOT NULL AND m.content = palimpsest_erased_text()
            END
        ),
        CASE
            WHEN l.reason_digest IS NULL THEN true
            WHEN l.reason_salt IS NULL THEN l.reason = ''
            ELSE l.reason_digest = palimpsest_text_digest(l.reason_salt, l.reason)
        END,
        c.position
    FROM audit_memorylog l
    LEFT JOIN audit_logcommit c ON c.team_id = l.team_id AND c.id = l.commit_id
    LEFT JOIN memory_memory m ON m.team_id = l.team_id AND m.id = l.memory_id
    WHERE l.team_id = asked_team AND l.seq > after_seq AND l.seq <= upto_seq
    ORDER BY l.seq
    LIMIT most;
END
$$;
