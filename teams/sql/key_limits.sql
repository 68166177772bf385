-- Who holds a key, also one that has expired, so that the refusal can say so.
CREATE FUNCTION palimpsest_key_with_limits(key_digest bytea)
RETURNS TABLE (
    id uuid, team_id uuid, prefix text, agent_id uuid, agent_slug text, allowed_categories text[],
    feature_flags jsonb, is_read_only boolean, has_expired boolean
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT k.id, k.team_id, k.prefix::text, k.agent_id, a.slug::text,
        CASE WHEN jsonb_typeof(a.allowed_categories) = 'array'
            THEN ARRAY(SELECT jsonb_array_elements_text(a.allowed_categories)) ELSE '{}' END,
        t.feature_flags, k.is_read_only, coalesce(k.expires_at <= now(), false)
    FROM public.teams_apikey k
    JOIN public.teams_team t ON t.id = k.team_id
    LEFT JOIN public.teams_agent a ON a.team_id = k.team_id AND a.id = k.agent_id
    WHERE k.digest = key_digest AND k.revoked_at IS NULL
$$;
REVOKE ALL ON FUNCTION palimpsest_key_with_limits(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_key_with_limits(bytea) TO palimpsest_app;

-- What servers of the version before ask, which know no limits: to them such keys are not valid.
CREATE OR REPLACE FUNCTION palimpsest_key_holder(key_digest bytea)
RETURNS TABLE (
    id uuid, team_id uuid, prefix text, agent_id uuid, agent_slug text, allowed_categories text[],
    feature_flags jsonb
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT k.id, k.team_id, k.prefix, k.agent_id, k.agent_slug, k.allowed_categories,
        k.feature_flags
    FROM public.palimpsest_key_with_limits(key_digest) AS k
    WHERE NOT k.is_read_only AND NOT k.has_expired
$$;
