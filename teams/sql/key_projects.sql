-- Who holds a key, with the projects that it is bound to.
CREATE FUNCTION palimpsest_bound_key(key_digest bytea)
RETURNS TABLE (
    id uuid, team_id uuid, prefix text, agent_id uuid, agent_slug text, allowed_categories text[],
    feature_flags jsonb, is_read_only boolean, has_expired boolean, project_ids uuid[]
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT h.*, k.project_ids
    FROM public.palimpsest_key_with_limits(key_digest) AS h
    JOIN public.teams_apikey k ON k.team_id = h.team_id AND k.id = h.id
$$;
REVOKE ALL ON FUNCTION palimpsest_bound_key(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_bound_key(bytea) TO palimpsest_app;
