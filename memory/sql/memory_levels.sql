-- Shorter versions of long texts: a row that waits comes with each long memory, what fills it is
-- logged, and an erasure takes it away. The length is LONG_TOKENS of memory/domain/levels.py in
-- characters.
CREATE FUNCTION palimpsest_await_levels() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO public.memory_memorylevels (team_id, memory_id)
    VALUES (NEW.team_id, NEW.id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER await_levels AFTER INSERT ON memory_memory
    FOR EACH ROW WHEN (char_length(NEW.content) > 140)
    EXECUTE FUNCTION palimpsest_await_levels();

CREATE FUNCTION palimpsest_forget_levels() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    DELETE FROM public.memory_memorylevels WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER forget_levels AFTER UPDATE OF erased_at ON memory_memory
    FOR EACH ROW WHEN (NEW.erased_at IS NOT NULL)
    EXECUTE FUNCTION palimpsest_forget_levels();

-- The memory's state is the same before and after; the row of the log says who wrote its levels.
CREATE FUNCTION palimpsest_log_levels() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    after jsonb;
BEGIN
    SELECT public.palimpsest_memory_state(to_jsonb(m)) INTO after FROM public.memory_memory m
    WHERE m.team_id = NEW.team_id AND m.id = NEW.memory_id FOR NO KEY UPDATE;
    PERFORM public.palimpsest_write_log(
        'compressed', after, after, false,
        jsonb_build_object('levels', jsonb_build_object('writer', NEW.writer)),
        NULL, NULL, clock_timestamp()
    );
    RETURN NULL;
END
$$;
CREATE TRIGGER log_levels AFTER UPDATE ON memory_memorylevels
    FOR EACH ROW WHEN (
        (OLD.summary, OLD.compressed, OLD.index_term, OLD.writer)
        IS DISTINCT FROM (NEW.summary, NEW.compressed, NEW.index_term, NEW.writer)
    )
    EXECUTE FUNCTION palimpsest_log_levels();

-- Prompts are made of them.
CREATE CONSTRAINT TRIGGER move_revision AFTER UPDATE OF summary, compressed, index_term
    ON memory_memorylevels
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (palimpsest_is_first_change('memories', NEW.team_id))
    EXECUTE FUNCTION palimpsest_move_revision('memories');

INSERT INTO memory_memorylevels (team_id, memory_id)
SELECT team_id, id FROM memory_memory WHERE char_length(content) > 140 AND erased_at IS NULL;
