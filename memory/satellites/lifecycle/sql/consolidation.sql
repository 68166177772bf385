-- An erasure or a purge takes away what a judge said of the memory, an erasure also the reasons of
-- planned changes.
CREATE FUNCTION palimpsest_forget_consolidation() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    DELETE FROM public.memory_judgedpair
    WHERE team_id = NEW.team_id AND (earlier_id = NEW.id OR later_id = NEW.id);
    IF NEW.erased_at IS NOT NULL THEN
        UPDATE public.memory_consolidationchange SET because = ''
        WHERE team_id = NEW.team_id AND (memory_id = NEW.id OR other_id = NEW.id);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER forget_consolidation AFTER UPDATE OF erased_at, status ON memory_memory
    FOR EACH ROW WHEN (
        NEW.erased_at IS NOT NULL OR NEW.status = 'purged' AND OLD.status <> 'purged'
    )
    EXECUTE FUNCTION palimpsest_forget_consolidation();
