-- As in audit/sql/distributed.sql.
CREATE OR REPLACE FUNCTION palimpsest_announce(
    team uuid, event text, subject uuid, facts jsonb, once_only text DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    listener uuid;
BEGIN
    IF pg_trigger_depth() = 0 AND NOT team = ANY (public.palimpsest_team_ids()) THEN
        RAISE EXCEPTION 'the team is outside the transaction''s scope'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    FOR listener IN
        SELECT e.id FROM public.teams_webhookendpoint e
        WHERE e.team_id = team AND e.is_enabled AND event = ANY (e.events)
        ORDER BY e.id FOR KEY SHARE
    LOOP
        INSERT INTO public.teams_webhookdelivery
            (team_id, id, endpoint_id, type, subject_id, data, once, happened_at, due_at, give_up_at)
        VALUES (team, gen_random_uuid(), listener, event, subject, facts, once_only, moment, moment,
            moment + public.palimpsest_webhook_patience())
        ON CONFLICT (team_id, endpoint_id, once) WHERE once IS NOT NULL DO NOTHING;
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION palimpsest_announce_memories() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    entry record;
BEGIN
    FOR entry IN
        SELECT w.*, t.type AS told FROM written w
        CROSS JOIN LATERAL (VALUES
            (1, 'memory.created', w.is_first),
            (2, 'memory.disputed', w.state->>'status' = 'disputed'
                AND (w.is_first OR w.event = 'contradiction_detected')),
            (3, 'memory.superseded', w.event = 'superseded'),
            (4, 'memory.deleted', w.event IN ('soft_deleted', 'purged', 'erased'))
        ) AS t (place, type, holds)
        WHERE t.holds ORDER BY w.seq, t.place
    LOOP
        PERFORM public.palimpsest_announce(entry.team_id, entry.told, entry.memory_id, jsonb_build_object(
            'memory', entry.memory_id, 'log_seq', entry.seq, 'change', entry.event,
            'version', entry.state->'version', 'memory_type', entry.state->'memory_type',
            'status', entry.state->'status', 'supersedes', entry.state->'supersedes_id',
            'superseded_by', entry.state->'superseded_by_id',
            'contradicts', entry.state->'contradicts', 'conversation', entry.conversation_id,
            'agent_id', entry.state->'agent_id', 'end_user_id', entry.state->'end_user_id',
            'project_id', entry.state->'project_id'
        ));
    END LOOP;
    RETURN NULL;
END
$$;
