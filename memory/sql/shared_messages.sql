-- When messages of one agent are found by the others that talk with the same person, and when not
-- any more. A service decides it once they are extracted (memory/services/extraction/shared_talk.py);
-- what is withheld here stays withheld.

-- What an agent keeps for itself stays with it in the words that it was made of.
CREATE FUNCTION palimpsest_withhold_sources() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE public.memory_messageentry SET is_shared = FALSE
    WHERE team_id = NEW.team_id AND message_id = ANY (NEW.source_message_ids)
        AND is_shared IS DISTINCT FROM FALSE;
    RETURN NULL;
END
$$;
CREATE TRIGGER withhold_sources AFTER INSERT OR UPDATE OF memory_type, source_message_ids
    ON memory_memory
    FOR EACH ROW WHEN (
        NEW.memory_type = 'agent_private' AND cardinality(NEW.source_message_ids) > 0
    ) EXECUTE FUNCTION palimpsest_withhold_sources();
UPDATE memory_messageentry e SET is_shared = FALSE
FROM memory_memory m
WHERE m.memory_type = 'agent_private' AND e.team_id = m.team_id
    AND e.message_id = ANY (m.source_message_ids);

-- So does all that was said to an agent that keeps to itself, also before it did.
CREATE FUNCTION palimpsest_withhold_messages() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE public.memory_messageentry SET is_shared = FALSE
    WHERE team_id = NEW.team_id AND agent_id = NEW.id AND is_shared;
    RETURN NULL;
END
$$;
CREATE TRIGGER withhold_messages AFTER UPDATE OF keeps_to_itself ON teams_agent
    FOR EACH ROW WHEN (NEW.keeps_to_itself AND NOT OLD.keeps_to_itself)
    EXECUTE FUNCTION palimpsest_withhold_messages();

-- And what is given to somebody else, with its conversation.
CREATE FUNCTION palimpsest_withhold_given() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.is_shared := FALSE;
    RETURN NEW;
END
$$;
CREATE TRIGGER withhold_given BEFORE UPDATE OF agent_id, end_user_id ON memory_messageentry
    FOR EACH ROW WHEN (
        (OLD.agent_id, OLD.end_user_id) IS DISTINCT FROM (NEW.agent_id, NEW.end_user_id)
    ) EXECUTE FUNCTION palimpsest_withhold_given();

-- Answers that were made before are made anew (audit/sql/message_revision.sql).
CREATE CONSTRAINT TRIGGER move_revision_of_sharing AFTER UPDATE OF is_shared ON memory_messageentry
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.is_shared IS DISTINCT FROM NEW.is_shared
        AND palimpsest_is_first_change('messages', NEW.team_id))
    EXECUTE FUNCTION palimpsest_move_revision('messages');

-- The messages that hold each of the terms, as palimpsest_matches says it of memories: narrowed to
-- the agent and the project before they are cut off at `most`, else what others said would use it up.
-- With `with_shared`, what other agents share of their talk is among them: name one owner then.
DROP FUNCTION palimpsest_message_matches(uuid, text[], text[], int, uuid, uuid);
CREATE FUNCTION palimpsest_message_matches(
    asked_team uuid, owners text[], terms text[], most int, asked_agent uuid, asked_project uuid,
    with_shared boolean
) RETURNS TABLE (
    term int, message_id uuid, team_id uuid, agent_id uuid, end_user_id uuid, project_id uuid,
    is_shared boolean
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
        e.is_shared
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
                s.team_id, s.end_user_id,
                (CASE WHEN s.is_forgotten THEN 3 ELSE 0 END)::smallint, s.lexemes
            ) @> wanted.keys
            -- Not an equality: only the index of words is to answer this.
            AND s.team_id IS NOT DISTINCT FROM asked_team
            AND (asked_agent IS NULL OR s.agent_id = asked_agent
                OR with_shared AND s.is_shared)
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
