-- What a person is called stands in the lines of their memories, so a new name moves the revision
-- of memories too.
CREATE CONSTRAINT TRIGGER move_revision_of_memories AFTER UPDATE OF display_name ON teams_enduser
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.display_name IS DISTINCT FROM NEW.display_name
        AND palimpsest_is_first_change('memories', NEW.team_id))
    EXECUTE FUNCTION palimpsest_move_revision('memories');
