-- An agent's identity document, in the shape in which the API shows it.
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
            'allowed_categories', agent.allowed_categories,
            'keeps_to_itself', agent.keeps_to_itself,
            'context_policy', agent.context_policy
        )
    )
$$;
