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
            'allowed_categories', agent.allowed_categories
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

-- The agents of before begin with what they are.
INSERT INTO teams_agentversion
    (id, team_id, agent_id, number, document, actor, reason, created_at)
SELECT gen_random_uuid(), a.team_id, a.id, a.version, palimpsest_agent_document(a), 'migration',
    'as it was when versions began', clock_timestamp()
FROM teams_agent a;

-- Who holds a key, with the flags that its team overrides, so that each request knows them without
-- another question. It stands beside palimpsest_api_key, which servers of the version before ask.
CREATE FUNCTION palimpsest_key_holder(key_digest bytea)
RETURNS TABLE (
    id uuid, team_id uuid, prefix text, agent_id uuid, agent_slug text, allowed_categories text[],
    feature_flags jsonb
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT k.id, k.team_id, k.prefix::text, k.agent_id, a.slug::text,
        CASE WHEN jsonb_typeof(a.allowed_categories) = 'array'
            THEN ARRAY(SELECT jsonb_array_elements_text(a.allowed_categories)) ELSE '{}' END,
        t.feature_flags
    FROM public.teams_apikey k
    JOIN public.teams_team t ON t.id = k.team_id
    LEFT JOIN public.teams_agent a ON a.team_id = k.team_id AND a.id = k.agent_id
    WHERE k.digest = key_digest AND k.revoked_at IS NULL
$$;
REVOKE ALL ON FUNCTION palimpsest_key_holder(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_key_holder(bytea) TO palimpsest_app;
