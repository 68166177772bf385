-- The holder of a key as in guarantees.sql, with the name of its team.
DROP FUNCTION palimpsest_api_key(bytea);
CREATE FUNCTION palimpsest_api_key(key_digest bytea)
RETURNS TABLE (
    id uuid, team_id uuid, prefix text, agent_id uuid, agent_slug text, allowed_categories text[],
    feature_flags jsonb, is_read_only boolean, has_expired boolean, project_ids uuid[],
    team_slug text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT k.id, k.team_id, k.prefix::text, k.agent_id, a.slug::text,
        CASE WHEN jsonb_typeof(a.allowed_categories) = 'array'
            THEN ARRAY(SELECT jsonb_array_elements_text(a.allowed_categories)) ELSE '{}' END,
        t.feature_flags, k.is_read_only, coalesce(k.expires_at <= now(), false), k.project_ids,
        t.slug::text
    FROM public.teams_apikey k
    JOIN public.teams_team t ON t.id = k.team_id
    LEFT JOIN public.teams_agent a ON a.team_id = k.team_id AND a.id = k.agent_id
    WHERE k.digest = key_digest AND k.revoked_at IS NULL
$$;
REVOKE ALL ON FUNCTION palimpsest_api_key(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_api_key(bytea) TO palimpsest_app;
