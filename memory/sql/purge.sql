-- What was purged is in no search and no prompt any more, and stays so. Its text stays with the log,
-- which shows the past, until the person whom it is about is erased.

-- Takes a purged memory out of everything that finds memories; satellites' triggers do so too. Its row stays, as the log's rows and
-- other versions refer to it.
CREATE FUNCTION palimpsest_forget_purged() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    DELETE FROM public.memory_searchentry WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    DELETE FROM public.memory_memorylevels WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    DELETE FROM public.memory_memorytag WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    DELETE FROM public.memory_memoryartifact WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    DELETE FROM public.memory_memoryusage WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    -- By each index on its own: the log says which links are lost.
    DELETE FROM public.memory_memoryrelation
    WHERE team_id = NEW.team_id AND from_memory_id = NEW.id;
    DELETE FROM public.memory_memoryrelation WHERE team_id = NEW.team_id AND to_memory_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER forget_purged AFTER UPDATE OF status ON memory_memory
    FOR EACH ROW WHEN (NEW.status = 'purged' AND OLD.status <> 'purged')
    EXECUTE FUNCTION palimpsest_forget_purged();

-- Only what expired is purged, and nobody brings it back; an erasure may still empty it.
CREATE FUNCTION palimpsest_keep_purged() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'only what expired is purged, and it stays so'
        USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER keep_purged BEFORE UPDATE OF status ON memory_memory
    FOR EACH ROW WHEN (
        OLD.status = 'purged' AND NEW.status <> 'purged' AND NEW.erased_at IS NULL
        OR NEW.status = 'purged' AND OLD.status <> 'purged'
            AND (OLD.status <> 'soft_deleted' OR OLD.purge_at IS NULL)
    ) EXECUTE FUNCTION palimpsest_keep_purged();
