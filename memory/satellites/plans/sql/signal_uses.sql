-- An erasure or a purge takes away what a memory was of use for.
CREATE FUNCTION palimpsest_forget_signal_uses() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    DELETE FROM public.memory_signaluse WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER forget_signal_uses AFTER UPDATE OF erased_at, status ON memory_memory
    FOR EACH ROW WHEN (
        NEW.erased_at IS NOT NULL OR NEW.status = 'purged' AND OLD.status <> 'purged'
    )
    EXECUTE FUNCTION palimpsest_forget_signal_uses();
