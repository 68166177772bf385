-- The endpoints that something is due for and that do not rest, those of all teams in turn: asked
-- before it is known for which team to work.
CREATE OR REPLACE FUNCTION palimpsest_due_webhooks(most integer)
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
