-- Names the change of a memory from what differs; `before` is null for a new row.
CREATE OR REPLACE FUNCTION palimpsest_memory_event(before jsonb, after jsonb) RETURNS text
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
CREATE OR REPLACE FUNCTION palimpsest_memory_state(memory jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
    SELECT memory - ARRAY['content', 'updated_at', 'salt', 'erased_at']
$$;

-- Names are qualified: a temporary table of the same name must not catch the rows.
-- Writes the log row of every change of a memory, in the transaction of the change, and moves the
-- revision of the conversation the memory came from.
CREATE OR REPLACE FUNCTION palimpsest_log_memory() RETURNS trigger
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
