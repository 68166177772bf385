-- What of a team's memory is announced to its webhooks (webhooks.sql).

-- The changes of memories, from their log: every writer's, in one statement for all rows of one. Two
-- changes of a memory are announced in the order of their commits, as the second waits for the row.
CREATE FUNCTION palimpsest_announce_memories() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM public.teams_webhookendpoint e
        WHERE e.is_enabled AND e.team_id IN (SELECT w.team_id FROM written w)
    ) THEN
        RETURN NULL;
    END IF;
    WITH listener AS MATERIALIZED (
        SELECT e.team_id, e.id, e.events FROM public.teams_webhookendpoint e
        WHERE e.is_enabled AND e.team_id IN (SELECT w.team_id FROM written w)
        ORDER BY e.id FOR KEY SHARE
    )
    INSERT INTO public.teams_webhookdelivery
        (team_id, id, endpoint_id, type, subject_id, data, happened_at, due_at, give_up_at)
    SELECT w.team_id, gen_random_uuid(), l.id, t.type, w.memory_id,
        jsonb_build_object(
            'memory', w.memory_id, 'log_seq', w.seq, 'change', w.event,
            'version', w.state->'version', 'memory_type', w.state->'memory_type',
            'status', w.state->'status', 'supersedes', w.state->'supersedes_id',
            'superseded_by', w.state->'superseded_by_id', 'contradicts', w.state->'contradicts',
            'conversation', w.conversation_id, 'agent_id', w.state->'agent_id',
            'end_user_id', w.state->'end_user_id', 'project_id', w.state->'project_id'
        ),
        w.at, clock_timestamp(), clock_timestamp() + public.palimpsest_webhook_patience()
    FROM written w
    JOIN listener l ON l.team_id = w.team_id
    CROSS JOIN LATERAL (VALUES
        (1, 'memory.created', w.is_first),
        (2, 'memory.disputed', w.state->>'status' = 'disputed'
            AND (w.is_first OR w.event = 'contradiction_detected')),
        (3, 'memory.superseded', w.event = 'superseded'),
        (4, 'memory.deleted', w.event IN ('soft_deleted', 'purged', 'erased'))
    ) AS t (place, type, holds)
    WHERE t.holds AND t.type = ANY (l.events)
    ORDER BY w.seq, t.place;
    RETURN NULL;
END
$$;
CREATE TRIGGER announce_memories AFTER INSERT ON audit_memorylog
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_announce_memories();

CREATE FUNCTION palimpsest_announce_contradiction() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM public.palimpsest_announce(
        NEW.team_id,
        CASE WHEN NEW.resolved_at IS NULL THEN 'contradiction.opened'
            ELSE 'contradiction.resolved' END,
        NEW.id,
        jsonb_build_object(
            'contradiction', NEW.id, 'memory_a', NEW.memory_a_id, 'memory_b', NEW.memory_b_id,
            'strategy', NEW.strategy, 'verdict', NEW.verdict,
            'resolution', nullif(NEW.resolution, '')
        )
    );
    RETURN NULL;
END
$$;
CREATE TRIGGER announce_opened AFTER INSERT ON memory_contradiction
    FOR EACH ROW WHEN (NEW.resolved_at IS NULL)
    EXECUTE FUNCTION palimpsest_announce_contradiction();
-- A settlement that is taken back opens it again.
CREATE TRIGGER announce_resolved AFTER UPDATE OF resolved_at ON memory_contradiction
    FOR EACH ROW WHEN ((OLD.resolved_at IS NULL) <> (NEW.resolved_at IS NULL))
    EXECUTE FUNCTION palimpsest_announce_contradiction();
