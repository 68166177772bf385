-- Who may hear a memory, from whom it belongs to; memory.domain.audience.Owner says the same.
CREATE FUNCTION palimpsest_audience(memory_type text, agent uuid, person uuid) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN agent IS NOT NULL AND memory_type NOT IN ('shared', 'user_profile') THEN 'agent'
        WHEN person IS NOT NULL THEN 'person'
        ELSE 'team'
    END
$$;
-- A change of the type calculates the stored rows without firing their triggers: nothing is logged.
ALTER TABLE memory_memory ALTER COLUMN audience TYPE varchar(10)
    USING palimpsest_audience(memory_type, agent_id, end_user_id);
ALTER TABLE memory_searchentry ALTER COLUMN audience TYPE varchar(10)
    USING palimpsest_audience(memory_type, agent_id, end_user_id);
ALTER TABLE memory_messageentry ALTER COLUMN audience TYPE varchar(10)
    USING CASE WHEN is_shared THEN 'person' WHEN NOT is_shared THEN 'agent' END;

-- It follows from what the log has: rows of before and after it hold the same.
CREATE OR REPLACE FUNCTION palimpsest_memory_state(memory jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
    SELECT memory - ARRAY['content', 'updated_at', 'salt', 'erased_at', 'audience']
$$;

CREATE FUNCTION palimpsest_set_audience() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.audience := public.palimpsest_audience(NEW.memory_type, NEW.agent_id, NEW.end_user_id);
    RETURN NEW;
END
$$;
CREATE TRIGGER a_set_audience
    BEFORE INSERT OR UPDATE OF memory_type, agent_id, end_user_id, audience ON memory_memory
    FOR EACH ROW EXECUTE FUNCTION palimpsest_set_audience();
-- After place_entry, in the order of names, which copies the owner.
CREATE TRIGGER set_audience
    BEFORE INSERT OR UPDATE OF memory_type, agent_id, end_user_id, audience ON memory_searchentry
    FOR EACH ROW EXECUTE FUNCTION palimpsest_set_audience();

-- What an agent keeps for itself stays with it in the words that it was made of.
CREATE OR REPLACE FUNCTION palimpsest_withhold_sources() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE public.memory_messageentry SET audience = 'agent'
    WHERE team_id = NEW.team_id AND message_id = ANY (NEW.source_message_ids)
        AND audience IS DISTINCT FROM 'agent';
    RETURN NULL;
END
$$;
-- So does all that was said to an agent that keeps to itself, also before it did.
CREATE OR REPLACE FUNCTION palimpsest_withhold_messages() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE public.memory_messageentry SET audience = 'agent'
    WHERE team_id = NEW.team_id AND agent_id = NEW.id AND audience <> 'agent';
    RETURN NULL;
END
$$;
-- And what is given to somebody else, with its conversation.
CREATE OR REPLACE FUNCTION palimpsest_withhold_given() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.audience := 'agent';
    RETURN NEW;
END
$$;
-- Answers that were made before are made anew (audit/sql/message_revision.sql).
DROP TRIGGER move_revision_of_sharing ON memory_messageentry;
CREATE CONSTRAINT TRIGGER move_revision_of_sharing AFTER UPDATE OF audience ON memory_messageentry
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.audience IS DISTINCT FROM NEW.audience
        AND palimpsest_is_first_change('messages', NEW.team_id))
    EXECUTE FUNCTION palimpsest_move_revision('messages');

-- What members said for the team is found under nobody's name.
DROP INDEX memory_message_by_word;
CREATE INDEX memory_message_by_word ON memory_messageentry
    USING gin (palimpsest_word_keys(
        team_id, CASE WHEN audience = 'team' THEN NULL ELSE end_user_id END,
        (CASE WHEN is_forgotten THEN 3 ELSE 0 END)::smallint, lexemes
    ))
    WITH (fastupdate = off);

-- As before, with the audience. With `with_others`, what other agents may find is among them.
DROP FUNCTION palimpsest_message_matches(uuid, text[], text[], int, uuid, uuid, boolean);
CREATE FUNCTION palimpsest_message_matches(
    asked_team uuid, owners text[], terms text[], most int, asked_agent uuid, asked_project uuid,
    with_others boolean
) RETURNS TABLE (
    term int, message_id uuid, team_id uuid, agent_id uuid, end_user_id uuid, project_id uuid,
    audience varchar
)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 300
SET search_path = pg_catalog, public, pg_temp
SET enable_seqscan = off SET enable_indexscan = off SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    IF (asked_team = ANY (palimpsest_team_ids())) IS NOT TRUE THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT wanted.number::int, e.message_id, e.team_id, e.agent_id, e.end_user_id, e.project_id,
        e.audience
    FROM (
        SELECT t.number, (
            SELECT array_agg(palimpsest_word_prefix(asked_team, o.owner, 0::smallint) || lexeme)
            FROM unnest(tsvector_to_array(to_tsvector('english', t.term))) AS lexeme
        ) AS keys
        FROM unnest(terms) WITH ORDINALITY AS t (term, number)
        CROSS JOIN unnest(owners) AS o (owner)
    ) AS wanted
    CROSS JOIN LATERAL (
        SELECT s.* FROM memory_messageentry s
        WHERE palimpsest_word_keys(
                s.team_id, CASE WHEN s.audience = 'team' THEN NULL ELSE s.end_user_id END,
                (CASE WHEN s.is_forgotten THEN 3 ELSE 0 END)::smallint, s.lexemes
            ) @> wanted.keys
            -- Not an equality: only the index of words is to answer this.
            AND s.team_id IS NOT DISTINCT FROM asked_team
            AND (asked_agent IS NULL OR s.agent_id = asked_agent
                OR with_others AND s.audience IN ('person', 'team'))
            AND (asked_project IS NULL OR s.project_id = asked_project OR s.project_id IS NULL)
        LIMIT most
    ) AS e
    WHERE wanted.keys IS NOT NULL;
END
$$;
REVOKE ALL ON FUNCTION
    palimpsest_message_matches(uuid, text[], text[], int, uuid, uuid, boolean)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    palimpsest_message_matches(uuid, text[], text[], int, uuid, uuid, boolean)
    TO palimpsest_app;

-- As before, with the audience and the conversation, by which the rule of visibility decides.
DROP FUNCTION palimpsest_matches(uuid, text[], boolean, text[], int, uuid, uuid);
CREATE FUNCTION palimpsest_matches(
    asked_team uuid, owners text[], with_cold boolean, terms text[], most int,
    asked_agent uuid, asked_project uuid
) RETURNS TABLE (
    term int, memory_id uuid, team_id uuid, memory_type varchar, audience varchar, agent_id uuid,
    end_user_id uuid, project_id uuid, conversation_id uuid, place smallint
)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 2000
SET search_path = pg_catalog, public, pg_temp
SET enable_seqscan = off SET enable_indexscan = off SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    IF (asked_team = ANY (palimpsest_team_ids())) IS NOT TRUE THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT wanted.number::int, e.memory_id, e.team_id, e.memory_type, e.audience, e.agent_id,
        e.end_user_id, e.project_id, e.conversation_id, e.place
    FROM (
        SELECT t.number, (
            SELECT array_agg(palimpsest_word_prefix(asked_team, o.owner, p.place) || lexeme)
            FROM unnest(tsvector_to_array(to_tsvector('english', t.term))) AS lexeme
        ) AS keys
        FROM unnest(terms) WITH ORDINALITY AS t (term, number)
        CROSS JOIN unnest(owners) AS o (owner)
        CROSS JOIN unnest(CASE WHEN with_cold THEN '{0,1}' ELSE '{0}' END::smallint[]) AS p (place)
    ) AS wanted
    CROSS JOIN LATERAL (
        SELECT s.* FROM memory_searchentry s
        WHERE palimpsest_word_keys(s.team_id, s.end_user_id, s.place, s.lexemes) @> wanted.keys
            -- Not an equality: only the index of words is to answer this.
            AND s.team_id IS NOT DISTINCT FROM asked_team
            AND (asked_agent IS NULL OR s.agent_id = asked_agent OR s.audience <> 'agent')
            AND (asked_project IS NULL OR s.project_id = asked_project OR s.project_id IS NULL)
        LIMIT most
    ) AS e
    WHERE wanted.keys IS NOT NULL;
END
$$;
REVOKE ALL ON FUNCTION palimpsest_matches(uuid, text[], boolean, text[], int, uuid, uuid)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_matches(uuid, text[], boolean, text[], int, uuid, uuid)
    TO palimpsest_app;

-- A reader is whom an answer is for: a setting of the transaction, "on" with an agent and a person
-- or without. Below it no row of another person or of another agent's own exists.
CREATE FUNCTION palimpsest_reader(part text) RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT nullif(current_setting('palimpsest.reader_' || part, true), '')::uuid
$$;
CREATE POLICY for_reader ON memory_memory AS RESTRICTIVE FOR SELECT USING (
    (SELECT current_setting('palimpsest.reader', true)) IS DISTINCT FROM 'on'
    OR (audience <> 'agent' OR (SELECT palimpsest_reader('agent')) IS NULL
        OR agent_id = (SELECT palimpsest_reader('agent')))
    AND (end_user_id IS NULL OR end_user_id = (SELECT palimpsest_reader('person')))
);
CREATE POLICY for_reader ON memory_searchentry AS RESTRICTIVE FOR SELECT USING (
    (SELECT current_setting('palimpsest.reader', true)) IS DISTINCT FROM 'on'
    OR (audience <> 'agent' OR (SELECT palimpsest_reader('agent')) IS NULL
        OR agent_id = (SELECT palimpsest_reader('agent')))
    AND (end_user_id IS NULL OR end_user_id = (SELECT palimpsest_reader('person')))
);
CREATE POLICY for_reader ON memory_messageentry AS RESTRICTIVE FOR SELECT USING (
    (SELECT current_setting('palimpsest.reader', true)) IS DISTINCT FROM 'on'
    OR audience = 'team'
    OR (audience = 'person' OR (SELECT palimpsest_reader('agent')) IS NULL
        OR agent_id = (SELECT palimpsest_reader('agent')))
    AND end_user_id = (SELECT palimpsest_reader('person'))
);
