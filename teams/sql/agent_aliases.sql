-- A name means one agent of its team, as slug or as alias. Whoever gives the same name at the same
-- time waits for the lock. It runs with the owner's rights, who sees every row.
CREATE FUNCTION palimpsest_refuse_agent_name() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    is_taken boolean;
BEGIN
    PERFORM pg_advisory_xact_lock(
        hashtextextended('agent-name:' || NEW.team_id || ':' || NEW.slug, 0)
    );
    IF TG_TABLE_NAME = 'teams_agent' THEN
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
CREATE TRIGGER refuse_name BEFORE INSERT OR UPDATE OF slug ON teams_agent
    FOR EACH ROW EXECUTE FUNCTION palimpsest_refuse_agent_name();
CREATE TRIGGER refuse_name BEFORE INSERT OR UPDATE OF slug ON teams_agentalias
    FOR EACH ROW EXECUTE FUNCTION palimpsest_refuse_agent_name();

-- Whoever changes a slug by SQL leaves the old one as an alias: else the next request that names
-- it would make a second agent of it.
CREATE FUNCTION palimpsest_keep_agent_name() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    DELETE FROM public.teams_agentalias a WHERE a.team_id = NEW.team_id AND a.slug = NEW.slug;
    INSERT INTO public.teams_agentalias (id, team_id, agent_id, slug, actor, created_at)
    VALUES (
        gen_random_uuid(), NEW.team_id, NEW.id, OLD.slug,
        coalesce(
            nullif(current_setting('palimpsest.actor', true), ''), 'database:' || session_user
        ),
        clock_timestamp()
    );
    RETURN NULL;
END
$$;
CREATE TRIGGER keep_name AFTER UPDATE OF slug ON teams_agent
    FOR EACH ROW WHEN (OLD.slug IS DISTINCT FROM NEW.slug)
    EXECUTE FUNCTION palimpsest_keep_agent_name();
