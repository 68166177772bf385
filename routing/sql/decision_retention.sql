-- Removes up to `most` decisions of each team that were made before a moment, which lies a day back
-- at least; returns how many. With the owner's rights: the application removes none by itself.
CREATE FUNCTION palimpsest_prune_decisions(made_before timestamptz, most int) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    removed int;
BEGIN
    IF made_before > now() - interval '1 day' THEN
        RAISE EXCEPTION 'decisions are kept for a day at least';
    END IF;
    DELETE FROM public.routing_routingdecision d
    USING public.teams_team t
    CROSS JOIN LATERAL (
        SELECT old.id FROM public.routing_routingdecision old
        WHERE old.team_id = t.id AND old.at < made_before LIMIT most
    ) AS gone
    WHERE d.team_id = t.id AND d.id = gone.id;
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END
$$;
REVOKE ALL ON FUNCTION palimpsest_prune_decisions(timestamptz, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_prune_decisions(timestamptz, int) TO palimpsest_app;
