-- Who may hear a memory, from whom it belongs to; memory.domain.audience.Owner says the same.
CREATE FUNCTION palimpsest_audience(memory_type text, agent uuid, person uuid) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN agent IS NOT NULL AND memory_type NOT IN ('shared', 'user_profile') THEN 'agent'
        WHEN person IS NOT NULL THEN 'person'
        ELSE 'team'
    END
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

-- When messages of one agent are found by others, and when not any more. A service decides it once
-- they are extracted (memory/writing/sharing.py); what is withheld here stays withheld.

-- What an agent keeps for itself stays with it in the words that it was made of.
CREATE FUNCTION palimpsest_withhold_sources() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE public.memory_messageentry SET audience = 'agent'
    WHERE team_id = NEW.team_id AND message_id = ANY (NEW.source_message_ids)
        AND audience IS DISTINCT FROM 'agent';
    RETURN NULL;
END
$$;
CREATE TRIGGER withhold_sources AFTER INSERT OR UPDATE OF memory_type, source_message_ids
    ON memory_memory
    FOR EACH ROW WHEN (
        NEW.memory_type = 'agent_private' AND cardinality(NEW.source_message_ids) > 0
    ) EXECUTE FUNCTION palimpsest_withhold_sources();

-- So does all that was said to an agent that keeps to itself, also before it did.
CREATE FUNCTION palimpsest_withhold_messages() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE public.memory_messageentry SET audience = 'agent'
    WHERE team_id = NEW.team_id AND agent_id = NEW.id AND audience <> 'agent';
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
    NEW.audience := 'agent';
    RETURN NEW;
END
$$;
CREATE TRIGGER withhold_given BEFORE UPDATE OF agent_id, end_user_id ON memory_messageentry
    FOR EACH ROW WHEN (
        (OLD.agent_id, OLD.end_user_id) IS DISTINCT FROM (NEW.agent_id, NEW.end_user_id)
    ) EXECUTE FUNCTION palimpsest_withhold_given();

-- Answers that were made before are made anew (audit/sql/message_revision.sql).
CREATE CONSTRAINT TRIGGER move_revision_of_sharing AFTER UPDATE OF audience ON memory_messageentry
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.audience IS DISTINCT FROM NEW.audience
        AND palimpsest_is_first_change('messages', NEW.team_id))
    EXECUTE FUNCTION palimpsest_move_revision('messages');

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
