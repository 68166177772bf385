-- A team's settings, by the names of their columns.
CREATE FUNCTION palimpsest_team_document(team teams_team) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT jsonb_build_object(
        'name', team.name,
        'time_zone', team.time_zone,
        'feature_flags', team.feature_flags,
        'sensitive_fields', team.sensitive_fields,
        'context_settings', team.context_settings,
        'lifecycle_settings', team.lifecycle_settings,
        'episode_rest_hours', team.episode_rest_hours,
        'person_role', team.person_role,
        'monthly_budget_usd', team.monthly_budget_usd,
        'daily_user_budget_usd', team.daily_user_budget_usd
    )
$$;

-- Keeps each version in the transaction of the change, whose lock on the team's row keeps the
-- numbers in order. It runs with the owner's rights: nobody else writes versions.
CREATE FUNCTION palimpsest_keep_team_version() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    now_said jsonb := public.palimpsest_team_document(NEW);
BEGIN
    IF TG_OP = 'UPDATE' AND now_said IS NOT DISTINCT FROM public.palimpsest_team_document(OLD) THEN
        RETURN NULL;
    END IF;
    INSERT INTO public.teams_teamversion
        (id, team_id, number, document, actor, reason, created_at)
    SELECT gen_random_uuid(), NEW.id, coalesce(max(v.number), 0) + 1, now_said,
        coalesce(
            nullif(current_setting('palimpsest.actor', true), ''), 'database:' || session_user
        ),
        coalesce(current_setting('palimpsest.reason', true), ''),
        clock_timestamp()
    FROM public.teams_teamversion v WHERE v.team_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER keep_version AFTER INSERT OR UPDATE ON teams_team
    FOR EACH ROW EXECUTE FUNCTION palimpsest_keep_team_version();
