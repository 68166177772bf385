CREATE TRIGGER await_messages AFTER INSERT ON teams_message
    REFERENCING NEW TABLE AS said
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_await_messages();

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

-- What was deleted or purged must not be found again in the words that it was made of. A purged
-- memory has no search entry any more, so the memories of a conversation are looked up by it. An
-- insight is drawn from many messages and repeats none of them, so deleting it hides none.
CREATE FUNCTION palimpsest_forget_messages() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.memory_type = 'insight' THEN
        RETURN NULL;
    END IF;
    UPDATE public.memory_messageentry e
    SET is_forgotten = NEW.status IN ('soft_deleted', 'purged') OR EXISTS (
        SELECT FROM public.memory_memory m
        WHERE m.team_id = e.team_id AND m.conversation_id = e.conversation_id
            AND m.status IN ('soft_deleted', 'purged') AND m.memory_type <> 'insight'
            AND e.message_id = ANY (m.source_message_ids)
    )
    WHERE e.team_id = NEW.team_id AND e.message_id = ANY (NEW.source_message_ids);
    RETURN NULL;
END
$$;
CREATE TRIGGER forget_messages AFTER UPDATE OF status ON memory_memory
    FOR EACH ROW WHEN (
        cardinality(NEW.source_message_ids) > 0
        AND (OLD.status IN ('soft_deleted', 'purged')) <> (NEW.status IN ('soft_deleted', 'purged'))
    ) EXECUTE FUNCTION palimpsest_forget_messages();

CREATE INDEX memory_message_by_word ON memory_messageentry
    USING gin (palimpsest_word_keys(
        team_id, CASE WHEN audience = 'team' THEN NULL ELSE end_user_id END,
        (CASE WHEN is_forgotten THEN 3 ELSE 0 END)::smallint, lexemes
    ))
    WITH (fastupdate = off);

-- The teams in which messages wait: the one question of the sweep that comes before a team.
CREATE FUNCTION palimpsest_teams_with_waiting_messages() RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT DISTINCT team_id FROM public.memory_messageentry WHERE is_waiting
$$;
REVOKE ALL ON FUNCTION palimpsest_teams_with_waiting_messages() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_teams_with_waiting_messages() TO palimpsest_app;
