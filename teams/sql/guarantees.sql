-- The teams whose rows this transaction may see; none unless it says so.
CREATE FUNCTION palimpsest_team_ids() RETURNS uuid[]
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(
        string_to_array(nullif(current_setting('palimpsest.team_ids', true), ''), ',')::uuid[],
        '{}'
    )
$$;

CREATE FUNCTION palimpsest_refuse() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation';
END
$$;

-- Replaces a table's single-column primary key by (team_id, <column>).
CREATE FUNCTION palimpsest_key_by_team(target regclass, key_column text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    key_name text;
BEGIN
    SELECT conname INTO STRICT key_name
    FROM pg_constraint WHERE conrelid = target AND contype = 'p';
    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', target, key_name);
    EXECUTE format(
        'ALTER TABLE %s ADD CONSTRAINT %I PRIMARY KEY (team_id, %I)', target, key_name, key_column
    );
END
$$;
REVOKE ALL ON FUNCTION palimpsest_key_by_team(regclass, text) FROM PUBLIC;

-- The few questions that must be asked before a team is known. They run with the owner's rights
-- and answer with as little as the caller needs.

-- The holder of a key, also of one that has expired, so that the refusal can say so.
CREATE FUNCTION palimpsest_api_key(key_digest bytea)
RETURNS TABLE (
    id uuid, team_id uuid, prefix text, agent_id uuid, agent_slug text, allowed_categories text[],
    feature_flags jsonb, is_read_only boolean, has_expired boolean, project_ids uuid[]
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT k.id, k.team_id, k.prefix::text, k.agent_id, a.slug::text,
        CASE WHEN jsonb_typeof(a.allowed_categories) = 'array'
            THEN ARRAY(SELECT jsonb_array_elements_text(a.allowed_categories)) ELSE '{}' END,
        t.feature_flags, k.is_read_only, coalesce(k.expires_at <= now(), false), k.project_ids
    FROM public.teams_apikey k
    JOIN public.teams_team t ON t.id = k.team_id
    LEFT JOIN public.teams_agent a ON a.team_id = k.team_id AND a.id = k.agent_id
    WHERE k.digest = key_digest AND k.revoked_at IS NULL
$$;

CREATE FUNCTION palimpsest_team_by_slug(team_slug text) RETURNS uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT id FROM public.teams_team WHERE slug = team_slug
$$;

CREATE FUNCTION palimpsest_teams_of_staff(staff_id bigint) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT t.id FROM public.teams_team t
    JOIN public.teams_staffuser s ON s.id = staff_id AND s.is_active
    WHERE s.is_superuser
       OR EXISTS (SELECT 1 FROM public.teams_membership m
                  WHERE m.team_id = t.id AND m.user_id = s.id)
$$;

CREATE FUNCTION palimpsest_all_teams() RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT id FROM public.teams_team
$$;

REVOKE ALL ON FUNCTION palimpsest_api_key(bytea), palimpsest_team_by_slug(text),
    palimpsest_teams_of_staff(bigint), palimpsest_all_teams() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_api_key(bytea), palimpsest_team_by_slug(text),
    palimpsest_teams_of_staff(bigint), palimpsest_all_teams() TO palimpsest_app;

-- A team's own row: seen by those who may see the team.
ALTER TABLE teams_team ENABLE ROW LEVEL SECURITY;
CREATE POLICY team_rows ON teams_team
    USING (id = ANY ((SELECT palimpsest_team_ids())::uuid[]))
    WITH CHECK (id = ANY ((SELECT palimpsest_team_ids())::uuid[]));
REVOKE ALL ON teams_team FROM palimpsest_app;
GRANT SELECT, INSERT, UPDATE ON teams_team TO palimpsest_app;
