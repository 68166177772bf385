-- An agent's identity document, in the shape in which the API shows it.
CREATE FUNCTION palimpsest_agent_document(agent teams_agent) RETURNS jsonb
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

-- The version counts the changes of the document, whatever a writer makes of it. The name puts it
-- before other triggers of the row.
CREATE FUNCTION palimpsest_count_agent_version() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.version := 1;
    ELSIF public.palimpsest_agent_document(NEW) IS DISTINCT FROM public.palimpsest_agent_document(OLD)
    THEN
        NEW.version := OLD.version + 1;
    ELSE
        NEW.version := OLD.version;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER count_version BEFORE INSERT OR UPDATE ON teams_agent
    FOR EACH ROW EXECUTE FUNCTION palimpsest_count_agent_version();

-- Keeps each version in the transaction of the change. It runs with the owner's rights: nobody else
-- writes versions.
CREATE FUNCTION palimpsest_keep_agent_version() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO public.teams_agentversion
        (id, team_id, agent_id, number, document, actor, reason, created_at)
    VALUES (
        gen_random_uuid(), NEW.team_id, NEW.id, NEW.version,
        public.palimpsest_agent_document(NEW),
        coalesce(
            nullif(current_setting('palimpsest.actor', true), ''), 'database:' || session_user
        ),
        coalesce(current_setting('palimpsest.reason', true), ''),
        clock_timestamp()
    );
    RETURN NULL;
END
$$;
CREATE TRIGGER keep_version AFTER INSERT ON teams_agent
    FOR EACH ROW EXECUTE FUNCTION palimpsest_keep_agent_version();
CREATE TRIGGER keep_changed_version AFTER UPDATE ON teams_agent
    FOR EACH ROW WHEN (OLD.version IS DISTINCT FROM NEW.version)
    EXECUTE FUNCTION palimpsest_keep_agent_version();
