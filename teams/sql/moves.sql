-- A team on its way to another deployment. While `frozen_at` is set its transactions only read, and
-- once `moved_to` is set nothing but its keys is left of it.

-- The teams of the scope that are frozen make the transaction under way read-only, whatever writes:
-- the ORM, a trigger, a function of the owner. It is called where a transaction begins.
CREATE FUNCTION palimpsest_hold_if_frozen() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    -- Its lock on the table, which is taken before the look and held to the end, is what a freeze
    -- waits for (teams/services/moves.py).
    IF EXISTS (
        SELECT FROM public.teams_team t
        WHERE t.id = ANY (public.palimpsest_team_ids()) AND t.frozen_at IS NOT NULL
    ) THEN
        PERFORM set_config('transaction_read_only', 'on', true);
    END IF;
END
$$;

CREATE FUNCTION palimpsest_frozen_teams() RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT id FROM public.teams_team WHERE frozen_at IS NOT NULL
$$;
REVOKE ALL ON FUNCTION palimpsest_frozen_teams() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_frozen_teams() TO palimpsest_app;

-- Those that may be written: background work leaves the others alone.
CREATE OR REPLACE FUNCTION palimpsest_all_teams() RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT id FROM public.teams_team WHERE frozen_at IS NULL
$$;

CREATE OR REPLACE FUNCTION palimpsest_teams_of_staff(staff_id bigint) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT t.id FROM public.teams_team t
    JOIN public.teams_staffuser s ON s.id = staff_id AND s.is_active
    WHERE t.moved_to = ''
        AND (
            s.is_superuser
            OR EXISTS (SELECT 1 FROM public.teams_membership m
                WHERE m.team_id = t.id AND m.user_id = s.id)
        )
$$;

-- The holder of a key as in api_key_team.sql, with what became of its team.
DROP FUNCTION palimpsest_api_key(bytea);
CREATE FUNCTION palimpsest_api_key(key_digest bytea)
RETURNS TABLE (
    id uuid, team_id uuid, prefix text, agent_id uuid, agent_slug text, allowed_categories text[],
    feature_flags jsonb, is_read_only boolean, has_expired boolean, project_ids uuid[],
    team_slug text, is_frozen boolean, moved_to text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT k.id, k.team_id, k.prefix::text, k.agent_id, a.slug::text,
        CASE WHEN jsonb_typeof(a.allowed_categories) = 'array'
            THEN ARRAY(SELECT jsonb_array_elements_text(a.allowed_categories)) ELSE '{}' END,
        t.feature_flags, k.is_read_only, coalesce(k.expires_at <= now(), false), k.project_ids,
        t.slug::text, t.frozen_at IS NOT NULL, t.moved_to::text
    FROM public.teams_apikey k
    JOIN public.teams_team t ON t.id = k.team_id
    LEFT JOIN public.teams_agent a ON a.team_id = k.team_id AND a.id = k.agent_id
    WHERE k.digest = key_digest AND k.revoked_at IS NULL
$$;
REVOKE ALL ON FUNCTION palimpsest_api_key(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_api_key(bytea) TO palimpsest_app;
