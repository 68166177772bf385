-- The token of a digest with all that its holder may do, asked before a team is known. It ends with
-- its grant, with the login's role of an admin and with the erasure of the person.
CREATE FUNCTION palimpsest_oauth_token(token_digest bytea)
RETURNS TABLE (
    id uuid, team_id uuid, grant_id uuid, client_id uuid, kind text, is_valid boolean,
    is_used boolean, expires_at timestamptz, redirect_uri text, code_challenge text, resource text,
    is_read_only boolean, agent_id uuid, agent_slug text, allowed_categories text[],
    feature_flags jsonb, end_user_id uuid, end_user text, team_slug text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT o.id, o.team_id, g.id, g.client_id, o.kind::text,
        o.expires_at > now() AND g.revoked_at IS NULL AND s.is_active AND s.is_staff
            AND (s.is_superuser OR EXISTS (
                SELECT FROM public.teams_membership m
                WHERE m.team_id = g.team_id AND m.user_id = s.id AND m.role = 'admin'
            ))
            AND (g.end_user_id IS NULL OR p.external_id <> 'erased-' || p.id),
        o.used_at IS NOT NULL, o.expires_at, o.redirect_uri::text, o.code_challenge::text,
        g.resource::text, g.is_read_only, g.agent_id, a.slug::text,
        CASE WHEN jsonb_typeof(a.allowed_categories) = 'array'
            THEN ARRAY(SELECT jsonb_array_elements_text(a.allowed_categories)) ELSE '{}' END,
        t.feature_flags, g.end_user_id, p.external_id::text, t.slug::text
    FROM public.oauth_token o
    JOIN public.oauth_grant g ON g.team_id = o.team_id AND g.id = o.grant_id
    JOIN public.teams_team t ON t.id = g.team_id
    JOIN public.teams_agent a ON a.team_id = g.team_id AND a.id = g.agent_id
    JOIN public.teams_staffuser s ON s.id = g.user_id
    LEFT JOIN public.teams_enduser p ON p.team_id = g.team_id AND p.id = g.end_user_id
    WHERE o.digest = token_digest
$$;
REVOKE ALL ON FUNCTION palimpsest_oauth_token(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_oauth_token(bytea) TO palimpsest_app;

REVOKE ALL ON oauth_client FROM palimpsest_app;
GRANT SELECT, INSERT, DELETE ON oauth_client TO palimpsest_app;
