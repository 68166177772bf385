-- In a database that Citus distributes, triggers run on parts of a table: their rows are of another
-- type than the table's, and their names go on with `_` and a number.

-- The documents of agents and teams, made of a row as JSON.
CREATE FUNCTION palimpsest_agent_document(agent jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT jsonb_build_object(
        'slug', agent->'slug',
        'name', agent->'name',
        'tagline', agent->'tagline',
        'personality', agent->'personality',
        'rules', agent->'rules',
        'skills', agent->'skills',
        'model_config', agent->'model_config',
        'memory_config', jsonb_build_object(
            'retrieval_weights', agent->'retrieval_weights',
            'token_budget', agent->'token_budget',
            'summarize_interval', agent->'summarize_interval',
            'extraction_instructions', agent->'extraction_instructions',
            'allowed_categories', agent->'allowed_categories',
            'keeps_to_itself', agent->'keeps_to_itself',
            'context_policy', agent->'context_policy'
        )
    )
$$;

CREATE FUNCTION palimpsest_team_document(team jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT jsonb_build_object(
        'name', team->'name',
        'time_zone', team->'time_zone',
        'feature_flags', team->'feature_flags',
        'sensitive_fields', team->'sensitive_fields',
        'context_settings', team->'context_settings',
        'lifecycle_settings', team->'lifecycle_settings',
        'episode_rest_hours', team->'episode_rest_hours',
        'extraction_instructions', team->'extraction_instructions',
        'person_role', team->'person_role',
        'monthly_budget_usd', team->'monthly_budget_usd',
        'daily_user_budget_usd', team->'daily_user_budget_usd'
    )
$$;

CREATE OR REPLACE FUNCTION palimpsest_count_agent_version() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.version := 1;
    ELSIF public.palimpsest_agent_document(to_jsonb(NEW))
        IS DISTINCT FROM public.palimpsest_agent_document(to_jsonb(OLD))
    THEN
        NEW.version := OLD.version + 1;
    ELSE
        NEW.version := OLD.version;
    END IF;
    RETURN NEW;
END
$$;

CREATE OR REPLACE FUNCTION palimpsest_keep_agent_version() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO public.teams_agentversion
        (id, team_id, agent_id, number, document, actor, reason, created_at)
    VALUES (
        gen_random_uuid(), NEW.team_id, NEW.id, NEW.version,
        public.palimpsest_agent_document(to_jsonb(NEW)),
        coalesce(
            nullif(current_setting('palimpsest.actor', true), ''), 'database:' || session_user
        ),
        coalesce(current_setting('palimpsest.reason', true), ''),
        clock_timestamp()
    );
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION palimpsest_keep_team_version() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    now_said jsonb := public.palimpsest_team_document(to_jsonb(NEW));
BEGIN
    IF TG_OP = 'UPDATE'
        AND now_said IS NOT DISTINCT FROM public.palimpsest_team_document(to_jsonb(OLD))
    THEN
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

DROP FUNCTION palimpsest_agent_document(teams_agent), palimpsest_team_document(teams_team);

CREATE OR REPLACE FUNCTION palimpsest_refuse_agent_name() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    is_taken boolean;
BEGIN
    PERFORM pg_advisory_xact_lock(
        hashtextextended('agent-name:' || NEW.team_id || ':' || NEW.slug, 0)
    );
    IF TG_TABLE_NAME ~ '^teams_agent(_|$)' THEN
        is_taken := EXISTS (
            SELECT FROM public.teams_agentalias a
            WHERE a.team_id = NEW.team_id AND a.slug = NEW.slug AND a.agent_id <> NEW.id
        );
    ELSE
        is_taken := EXISTS (
            SELECT FROM public.teams_agent a WHERE a.team_id = NEW.team_id AND a.slug = NEW.slug
        );
    END IF;
    IF is_taken THEN
        RAISE EXCEPTION 'the team has an agent of that name already'
            USING ERRCODE = 'unique_violation', CONSTRAINT = 'agent_name_once';
    END IF;
    RETURN NEW;
END
$$;
