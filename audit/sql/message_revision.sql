-- Messages move the team's revision with what they are found by, apart from the memories: most
-- answers hold none. `messages` is the kind that palimpsest_move_revision counts.
CREATE CONSTRAINT TRIGGER move_revision AFTER INSERT OR UPDATE OF conversation_id, agent_id,
        end_user_id, project_id, position, said_at, role, people, is_waiting, is_forgotten,
        embedding, embedding_model, lexemes
    ON memory_messageentry
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (palimpsest_is_first_change('messages', NEW.team_id))
    EXECUTE FUNCTION palimpsest_move_revision('messages');
CREATE CONSTRAINT TRIGGER move_revision_back AFTER DELETE ON memory_messageentry
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (palimpsest_is_first_change('messages', OLD.team_id))
    EXECUTE FUNCTION palimpsest_move_revision('messages');

-- And with the names that a message is shown with.
CREATE CONSTRAINT TRIGGER move_revision AFTER UPDATE OF name ON teams_agent
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.name IS DISTINCT FROM NEW.name
        AND palimpsest_is_first_change('messages', NEW.team_id))
    EXECUTE FUNCTION palimpsest_move_revision('messages');
CREATE CONSTRAINT TRIGGER move_revision AFTER UPDATE OF display_name, external_id ON teams_enduser
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN ((OLD.display_name, OLD.external_id) IS DISTINCT FROM (NEW.display_name, NEW.external_id)
        AND palimpsest_is_first_change('messages', NEW.team_id))
    EXECUTE FUNCTION palimpsest_move_revision('messages');
