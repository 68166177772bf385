-- In place of the triggers of memory_levels.sql: how much of a memory prompts tell at most is logged
-- as its shorter versions are, and prompts are made anew.
CREATE OR REPLACE FUNCTION palimpsest_log_levels() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    after jsonb;
    told text := CASE WHEN NEW.told_at_most <> OLD.told_at_most THEN NEW.told_at_most END;
BEGIN
    SELECT public.palimpsest_memory_state(to_jsonb(m)) INTO after FROM public.memory_memory m
    WHERE m.team_id = NEW.team_id AND m.id = NEW.memory_id FOR NO KEY UPDATE;
    PERFORM public.palimpsest_write_log(
        'compressed', after, after, false,
        jsonb_build_object('levels', jsonb_strip_nulls(
            jsonb_build_object('writer', NEW.writer, 'told_at_most', told)
        )),
        NULL, NULL, clock_timestamp()
    );
    RETURN NULL;
END
$$;
DROP TRIGGER log_levels ON memory_memorylevels;
CREATE TRIGGER log_levels AFTER UPDATE ON memory_memorylevels
    FOR EACH ROW WHEN (
        (OLD.summary, OLD.compressed, OLD.index_term, OLD.writer, OLD.told_at_most)
        IS DISTINCT FROM
        (NEW.summary, NEW.compressed, NEW.index_term, NEW.writer, NEW.told_at_most)
    )
    EXECUTE FUNCTION palimpsest_log_levels();

DROP TRIGGER move_revision ON memory_memorylevels;
CREATE CONSTRAINT TRIGGER move_revision
    AFTER UPDATE OF summary, compressed, index_term, told_at_most ON memory_memorylevels
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (palimpsest_is_first_change('memories', NEW.team_id))
    EXECUTE FUNCTION palimpsest_move_revision('memories');
