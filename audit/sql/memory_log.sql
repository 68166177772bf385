-- Names the change of a memory from what differs; `before` is null for a new row.
CREATE FUNCTION palimpsest_memory_event(before jsonb, after jsonb) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN before IS NULL THEN
            CASE
                WHEN after->>'extractor' = 'merged' THEN 'merged'
                WHEN after->>'extractor' LIKE 'summary:%' THEN 'compacted'
                WHEN after->>'supersedes_id' IS NULL THEN 'created'
                WHEN after->>'extractor' = 'correction' THEN 'corrected'
                ELSE 'versioned'
            END
        WHEN before->>'status' IS DISTINCT FROM after->>'status' THEN
            CASE
                WHEN after->>'status' IN ('soft_deleted', 'purged', 'archived') THEN after->>'status'
                WHEN before->>'status' IN ('soft_deleted', 'archived') THEN 'restored'
                WHEN after->>'status' = 'disputed' THEN 'contradiction_detected'
                WHEN after->>'status' = 'superseded' THEN 'superseded'
                WHEN before->>'status' = 'disputed' THEN 'contradiction_resolved'
                ELSE 'restored'
            END
        WHEN before->'is_pinned' IS DISTINCT FROM after->'is_pinned' THEN
            CASE WHEN (after->>'is_pinned')::boolean THEN 'pinned' ELSE 'unpinned' END
        WHEN before->'contradicts' IS DISTINCT FROM after->'contradicts' THEN
            CASE WHEN jsonb_array_length(after->'contradicts')
                    > jsonb_array_length(before->'contradicts')
                THEN 'contradiction_detected' ELSE 'contradiction_resolved' END
        WHEN (after->>'corroboration')::int > (before->>'corroboration')::int THEN
            'duplicate_skipped'
        WHEN before->>'tier' IS DISTINCT FROM after->>'tier' THEN
            CASE WHEN array_position(ARRAY['cold', 'warm', 'hot'], after->>'tier')
                    > array_position(ARRAY['cold', 'warm', 'hot'], before->>'tier')
                THEN 'promoted' ELSE 'demoted' END
        ELSE 'updated'
    END
$$;

-- What the log keeps of a memory: everything but its text, the text's salt and the times of changes.
CREATE FUNCTION palimpsest_memory_state(memory jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
    SELECT memory - ARRAY['content', 'updated_at', 'salt', 'erased_at', 'audience']
$$;

-- Names are qualified: a temporary table of the same name must not catch the rows.
-- Writes the log row of every change of a memory, in the transaction of the change, and moves the
-- revision of the conversation the memory came from.
CREATE FUNCTION palimpsest_log_memory() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    before jsonb;
    after jsonb := public.palimpsest_memory_state(to_jsonb(NEW));
    conversation uuid := coalesce(
        NEW.conversation_id, nullif(current_setting('palimpsest.conversation_id', true), '')::uuid
    );
    new_revision bigint;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        before := public.palimpsest_memory_state(to_jsonb(OLD));
        IF before = after THEN
            RETURN NULL;
        END IF;
    END IF;
    IF conversation IS NOT NULL THEN
        UPDATE public.teams_conversation SET revision = revision + 1
        WHERE team_id = NEW.team_id AND id = conversation
        RETURNING revision INTO new_revision;
    END IF;
    PERFORM public.palimpsest_write_log(
        public.palimpsest_memory_event(before, after), before, after, before IS NULL, NULL,
        conversation, new_revision, NEW.updated_at
    );
    RETURN NULL;
END
$$;

-- Writes the log of all memories that a statement inserted (ON CONFLICT, MERGE and COPY included),
-- in their order: each has its own row and its own revision of its conversation, as if each had been
-- inserted alone. What a statement changes is logged row by row, see above.
CREATE FUNCTION palimpsest_log_new_memories() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    team uuid;
    entry record;
    current_conversation uuid :=
        nullif(current_setting('palimpsest.conversation_id', true), '')::uuid;
    writer text := coalesce(
        nullif(current_setting('palimpsest.actor', true), ''), 'database:' || session_user
    );
    why text := coalesce(current_setting('palimpsest.reason', true), '');
BEGIN
    FOR team IN SELECT DISTINCT w.team_id FROM written w ORDER BY w.team_id LOOP
        entry := public.palimpsest_current_commit(team);
        WITH memory AS MATERIALIZED (
            SELECT w.id, w.end_user_id, w.updated_at,
                public.palimpsest_memory_state(to_jsonb(w)) AS state,
                coalesce(w.conversation_id, current_conversation) AS conversation,
                row_number() OVER () AS place
            FROM written w WHERE w.team_id = team
        ), held AS MATERIALIZED (
            SELECT c.id FROM public.teams_conversation c
            WHERE c.team_id = team AND c.id = ANY (ARRAY(SELECT conversation FROM memory))
            ORDER BY c.id FOR NO KEY UPDATE
        ), moved AS (
            UPDATE public.teams_conversation c SET revision = c.revision + told.memories
            FROM (
                SELECT h.id, (SELECT count(*) FROM memory m WHERE m.conversation = h.id) AS memories
                FROM held h
            ) AS told
            WHERE c.team_id = team AND c.id = told.id
            RETURNING c.id, c.revision - told.memories AS revision
        )
        INSERT INTO public.audit_memorylog (team_id, memory_id, event, actor, reason, state, digest,
            conversation_id, revision, at, commit_id, is_first, new_end_user_id)
        SELECT team, m.id, public.palimpsest_memory_event(NULL, m.state), writer, why, m.state,
            ''::bytea, m.conversation,
            moved.revision + row_number() OVER (PARTITION BY m.conversation ORDER BY m.place),
            m.updated_at, entry.commit_id, true, m.end_user_id
        FROM memory m LEFT JOIN moved ON moved.id = m.conversation
        ORDER BY m.place;
        -- As in palimpsest_write_log.
        IF entry.is_new OR entry.stamped IS NOT NULL THEN
            UPDATE public.audit_logcommit c SET at = NULL, position = NULL, is_last = true
            WHERE c.team_id = team AND c.id = entry.commit_id AND c.at IS NOT NULL;
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
CREATE TRIGGER log_memory AFTER UPDATE ON memory_memory
    FOR EACH ROW EXECUTE FUNCTION palimpsest_log_memory();
CREATE TRIGGER log_new_memories AFTER INSERT ON memory_memory
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_log_new_memories();
