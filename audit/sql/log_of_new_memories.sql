-- Writes the log of all memories that a statement inserted (ON CONFLICT, MERGE and COPY included),
-- in their order: each has its own row and its own revision of its conversation, as if each had been
-- inserted alone. What a statement changes is logged row by row, see memory_log.sql.
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
CREATE OR REPLACE TRIGGER log_memory AFTER UPDATE ON memory_memory
    FOR EACH ROW EXECUTE FUNCTION palimpsest_log_memory();
CREATE TRIGGER log_new_memories AFTER INSERT ON memory_memory
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_log_new_memories();
-- Whoever may run a trigger function with its owner's rights may set it on a table of his own.
DO $$
DECLARE
    held regprocedure;
BEGIN
    FOR held IN
        SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef
            AND p.prorettype = 'trigger'::regtype AND p.proowner = current_user::regrole
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', held);
    END LOOP;
END
$$;
