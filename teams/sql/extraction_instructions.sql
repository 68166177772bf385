-- The documents of agents and teams with their extraction instructions.
CREATE OR REPLACE FUNCTION palimpsest_agent_document(agent teams_agent) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT jsonb_build_object(
        'slug', agent.slug,
        'name', agent.name,
        'tagline', agent.tagline,
        'personality', agent.personality,
        'rules', agent.rules,
        'skills', agent.skills,
        'model_config', agent.model_config,
        'memory_config', jsonb_build_object(
            'retrieval_weights', agent.retrieval_weights,
            'token_budget', agent.token_budget,
            'summarize_interval', agent.summarize_interval,
            'extraction_instructions', agent.extraction_instructions,
            'allowed_categories', agent.allowed_categories,
            'keeps_to_itself', agent.keeps_to_itself,
            'context_policy', agent.context_policy
        )
    )
$$;

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
        'extraction_instructions', team.extraction_instructions,
        'person_role', team.person_role,
        'monthly_budget_usd', team.monthly_budget_usd,
        'daily_user_budget_usd', team.daily_user_budget_usd
    )
$$;
