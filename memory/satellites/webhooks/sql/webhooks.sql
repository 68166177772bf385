-- Webhooks: an event becomes a delivery for each endpoint of the team that chose it, in the
-- transaction of what it tells of. A team without endpoints pays one look at an index.

-- How long a delivery is tried.
CREATE FUNCTION palimpsest_webhook_patience() RETURNS interval
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT interval '3 days' $$;

-- Announces an event of a team of the transaction's scope; `subject` is what it is about, `once`
-- makes it one event however often it is announced (null for any number). An endpoint that is being
-- removed at the moment is waited for and left out, so that no reference to it can fail.
CREATE FUNCTION palimpsest_announce(
    team uuid, event text, subject uuid, facts jsonb, once_only text DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    moment timestamptz := clock_timestamp();
BEGIN
    -- A trigger calls it for a row that its writer was allowed to write.
    IF pg_trigger_depth() = 0 AND NOT team = ANY (public.palimpsest_team_ids()) THEN
        RAISE EXCEPTION 'the team is outside the transaction''s scope'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    WITH listener AS MATERIALIZED (
        SELECT e.id FROM public.teams_webhookendpoint e
        WHERE e.team_id = team AND e.is_enabled AND event = ANY (e.events)
        ORDER BY e.id FOR KEY SHARE
    )
    INSERT INTO public.teams_webhookdelivery
        (team_id, id, endpoint_id, type, subject_id, data, once, happened_at, due_at, give_up_at)
    SELECT team, gen_random_uuid(), l.id, event, subject, facts, once_only, moment, moment,
        moment + public.palimpsest_webhook_patience()
    FROM listener l
    ON CONFLICT (team_id, endpoint_id, once) WHERE once IS NOT NULL DO NOTHING;
END
$$;
REVOKE ALL ON FUNCTION palimpsest_announce(uuid, text, uuid, jsonb, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_announce(uuid, text, uuid, jsonb, text) TO palimpsest_app;

-- The endpoints that something is due for and that do not rest, those of all teams in turn: asked
-- before it is known for which team to work.
CREATE FUNCTION palimpsest_due_webhooks(most integer)
RETURNS TABLE (team_id uuid, endpoint_id uuid)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT e.team_id, e.id
    FROM public.teams_webhookendpoint e
    WHERE e.is_enabled
        AND (e.rests_until IS NULL OR e.rests_until <= clock_timestamp())
        AND EXISTS (
            SELECT FROM public.teams_webhookdelivery d
            WHERE d.team_id = e.team_id AND d.endpoint_id = e.id AND d.state = 'waiting'
                -- An index condition, which the changing clock_timestamp is not.
                AND d.due_at <= statement_timestamp()
        )
    ORDER BY row_number() OVER (PARTITION BY e.team_id ORDER BY random()), random()
    LIMIT most
$$;
REVOKE ALL ON FUNCTION palimpsest_due_webhooks(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_due_webhooks(integer) TO palimpsest_app;

-- What is sent again gets a new number.
GRANT USAGE ON SEQUENCE teams_webhookdelivery_seq_seq TO palimpsest_app;
