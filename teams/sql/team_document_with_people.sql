-- A team's settings, by the names of their columns.
CREATE OR REPLACE FUNCTION palimpsest_team_document(team teams_team) RETURNS jsonb
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
