-- Makes the entry of each new message that the raw search may find, waiting to be filled in.
CREATE FUNCTION palimpsest_await_messages() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.memory_messageentry (message_id, team_id, conversation_id, agent_id,
        end_user_id, project_id, position, said_at, role)
    SELECT m.id, m.team_id, m.conversation_id, c.agent_id, c.end_user_id, c.project_id, m.position,
        m.created_at, m.role
    FROM said m
    JOIN public.teams_conversation c ON c.team_id = m.team_id AND c.id = m.conversation_id
    WHERE m.role IN ('user', 'assistant');
    RETURN NULL;
END
$$;
CREATE TRIGGER await_messages AFTER INSERT ON teams_message
    REFERENCING NEW TABLE AS said
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_await_messages();

-- Messages from before this table.
INSERT INTO memory_messageentry (message_id, team_id, conversation_id, agent_id, end_user_id,
    project_id, position, said_at, role)
SELECT m.id, m.team_id, m.conversation_id, c.agent_id, c.end_user_id, c.project_id, m.position,
    m.created_at, m.role
FROM teams_message m
JOIN teams_conversation c ON c.team_id = m.team_id AND c.id = m.conversation_id
WHERE m.role IN ('user', 'assistant');
UPDATE memory_messageentry e SET is_forgotten = TRUE
FROM memory_memory m
WHERE m.status = 'soft_deleted' AND e.team_id = m.team_id
    AND e.message_id = ANY (m.source_message_ids);

-- Follows a conversation that is given to somebody else.
CREATE FUNCTION palimpsest_move_messages() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE public.memory_messageentry
    SET agent_id = NEW.agent_id, end_user_id = NEW.end_user_id, project_id = NEW.project_id
    WHERE team_id = NEW.team_id AND conversation_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER move_messages AFTER UPDATE OF agent_id, end_user_id, project_id ON teams_conversation
    FOR EACH ROW WHEN (
        (OLD.agent_id, OLD.end_user_id, OLD.project_id)
        IS DISTINCT FROM (NEW.agent_id, NEW.end_user_id, NEW.project_id)
    ) EXECUTE FUNCTION palimpsest_move_messages();

-- What was deleted must not be found again in the words that it was made of.
CREATE FUNCTION palimpsest_forget_messages() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE public.memory_messageentry e
    SET is_forgotten = NEW.status = 'soft_deleted' OR EXISTS (
        SELECT FROM public.memory_searchentry s
        JOIN public.memory_memory m ON m.team_id = s.team_id AND m.id = s.memory_id
        WHERE s.team_id = e.team_id AND s.conversation_id = e.conversation_id
            AND m.status = 'soft_deleted' AND e.message_id = ANY (m.source_message_ids)
    )
    WHERE e.team_id = NEW.team_id AND e.message_id = ANY (NEW.source_message_ids);
    RETURN NULL;
END
$$;
CREATE TRIGGER forget_messages AFTER UPDATE OF status ON memory_memory
    FOR EACH ROW WHEN (
        cardinality(NEW.source_message_ids) > 0
        AND (OLD.status = 'soft_deleted') <> (NEW.status = 'soft_deleted')
    ) EXECUTE FUNCTION palimpsest_forget_messages();

-- The index of words, as that of memories (search_layout.sql): a forgotten message has no words.
CREATE INDEX memory_message_by_word ON memory_messageentry
    USING gin (palimpsest_word_keys(
        team_id, end_user_id, (CASE WHEN is_forgotten THEN 3 ELSE 0 END)::smallint, lexemes
    ))
    WITH (fastupdate = off);

-- The teams in which messages wait: the one question of the sweep that comes before a team.
CREATE FUNCTION palimpsest_teams_with_waiting_messages() RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT DISTINCT team_id FROM public.memory_messageentry WHERE is_waiting
$$;
REVOKE ALL ON FUNCTION palimpsest_teams_with_waiting_messages() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_teams_with_waiting_messages() TO palimpsest_app;
