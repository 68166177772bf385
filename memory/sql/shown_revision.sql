-- A kept answer is given again without reading its rows, so whatever else it shows of them moves
-- the team's revision too (audit/sql/team_revision.sql). What stays out: how often and when a memory
-- was last read, which every answer would change.

-- Feedback of every kind, and not only what the score is made of.
CREATE CONSTRAINT TRIGGER move_revision AFTER INSERT ON memory_memoryusage
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (NEW.succeeded + NEW.failed + NEW.cited + NEW.ignored > 0
        AND palimpsest_is_first_change('memories', NEW.team_id))
    EXECUTE FUNCTION palimpsest_move_revision('memories');
CREATE CONSTRAINT TRIGGER move_revision_on_change
    AFTER UPDATE OF succeeded, failed, cited, ignored ON memory_memoryusage
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN ((OLD.succeeded, OLD.failed, OLD.cited, OLD.ignored)
            IS DISTINCT FROM (NEW.succeeded, NEW.failed, NEW.cited, NEW.ignored)
        AND palimpsest_is_first_change('memories', NEW.team_id))
    EXECUTE FUNCTION palimpsest_move_revision('memories');

-- The names of whom a memory belongs to.
CREATE CONSTRAINT TRIGGER move_revision_of_slug AFTER UPDATE OF slug ON teams_agent
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.slug IS DISTINCT FROM NEW.slug
        AND palimpsest_is_first_change('memories', NEW.team_id))
    EXECUTE FUNCTION palimpsest_move_revision('memories');
CREATE CONSTRAINT TRIGGER move_revision_of_external_id
    AFTER UPDATE OF external_id ON teams_enduser
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.external_id IS DISTINCT FROM NEW.external_id
        AND palimpsest_is_first_change('memories', NEW.team_id))
    EXECUTE FUNCTION palimpsest_move_revision('memories');
CREATE CONSTRAINT TRIGGER move_revision AFTER UPDATE OF slug ON teams_project
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.slug IS DISTINCT FROM NEW.slug
        AND palimpsest_is_first_change('memories', NEW.team_id))
    EXECUTE FUNCTION palimpsest_move_revision('memories');
