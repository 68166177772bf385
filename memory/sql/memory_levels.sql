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

-- The memory's state is the same before and after; the row of the log says who wrote its levels, and
-- how much of the memory prompts include at most.
CREATE FUNCTION palimpsest_log_levels() RETURNS trigger
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
CREATE TRIGGER log_levels AFTER UPDATE ON memory_memorylevels
    FOR EACH ROW WHEN (
        (OLD.summary, OLD.compressed, OLD.index_term, OLD.writer, OLD.told_at_most)
        IS DISTINCT FROM
        (NEW.summary, NEW.compressed, NEW.index_term, NEW.writer, NEW.told_at_most)
    )
    EXECUTE FUNCTION palimpsest_log_levels();

-- Prompts are made of them.
CREATE CONSTRAINT TRIGGER move_revision
    AFTER UPDATE OF summary, compressed, index_term, told_at_most ON memory_memorylevels
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (palimpsest_is_first_change('memories', NEW.team_id))
    EXECUTE FUNCTION palimpsest_move_revision('memories');
