-- What was purged is in no search and no prompt any more, and stays so. Its text stays with the log,
-- which shows the past, until the person whom it is about is erased.

-- In place of the function of search_layout.sql: what is purged is found as little as what is deleted.
CREATE OR REPLACE FUNCTION palimpsest_place(status text, tier text) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (CASE
        WHEN status IN ('active', 'disputed') THEN CASE WHEN tier = 'cold' THEN 1 ELSE 0 END
        WHEN status IN ('soft_deleted', 'purged') THEN 3
        ELSE 2
    END)::smallint
$$;

-- In place of the trigger of message_layout.sql and the function of insights_forget_nothing.sql, of
-- which insights still hide nothing: what was deleted or purged must not
-- be found again in the words that it was made of. A purged memory has no search entry any more, so
-- the memories of a conversation are looked up by it.
CREATE OR REPLACE FUNCTION palimpsest_forget_messages() RETURNS trigger
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
DROP TRIGGER forget_messages ON memory_memory;
CREATE TRIGGER forget_messages AFTER UPDATE OF status ON memory_memory
    FOR EACH ROW WHEN (
        cardinality(NEW.source_message_ids) > 0
        AND (OLD.status IN ('soft_deleted', 'purged')) <> (NEW.status IN ('soft_deleted', 'purged'))
    ) EXECUTE FUNCTION palimpsest_forget_messages();

-- Takes a purged memory out of everything that finds memories. Its row stays, as the log's rows and
-- other versions refer to it.
CREATE FUNCTION palimpsest_forget_purged() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    DELETE FROM public.memory_searchentry WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    DELETE FROM public.memory_memorylevels WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    DELETE FROM public.memory_memorytag WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    DELETE FROM public.memory_memoryartifact WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    DELETE FROM public.memory_memoryusage WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    DELETE FROM public.memory_signaluse WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    DELETE FROM public.memory_judgedpair
    WHERE team_id = NEW.team_id AND (earlier_id = NEW.id OR later_id = NEW.id);
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
