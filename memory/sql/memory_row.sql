-- The text of a memory and what identifies it never change; a correction is another row.
CREATE FUNCTION palimpsest_guard_memory() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.id, NEW.team_id, NEW.content, NEW.created_at, NEW.extractor, NEW.actor,
        NEW.source_message_ids[1:cardinality(OLD.source_message_ids)])
       IS DISTINCT FROM
       (OLD.id, OLD.team_id, OLD.content, OLD.created_at, OLD.extractor, OLD.actor,
        OLD.source_message_ids)
    THEN
        RAISE EXCEPTION 'the text and origin of a memory never change; write a new version'
            USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.updated_at := clock_timestamp();
    RETURN NEW;
END
$$;
CREATE TRIGGER guard_memory BEFORE UPDATE ON memory_memory
    FOR EACH ROW EXECUTE FUNCTION palimpsest_guard_memory();

CREATE TRIGGER keep_memory BEFORE DELETE ON memory_memory
    FOR EACH ROW EXECUTE FUNCTION palimpsest_refuse();
CREATE TRIGGER keep_memory_truncate BEFORE TRUNCATE ON memory_memory
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_refuse();

CREATE TRIGGER log_memory AFTER INSERT OR UPDATE ON memory_memory
    FOR EACH ROW EXECUTE FUNCTION palimpsest_log_memory();

-- Keeps memory_memorytag equal to memory_memory.tags.
CREATE FUNCTION palimpsest_index_tags() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        DELETE FROM public.memory_memorytag
        WHERE team_id = NEW.team_id AND memory_id = NEW.id AND name <> ALL (NEW.tags);
    END IF;
    INSERT INTO public.memory_memorytag (id, team_id, memory_id, name)
    SELECT gen_random_uuid(), NEW.team_id, NEW.id, tag FROM unnest(NEW.tags) AS tag
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER index_tags_of_new AFTER INSERT ON memory_memory
    FOR EACH ROW WHEN (cardinality(NEW.tags) > 0) EXECUTE FUNCTION palimpsest_index_tags();
CREATE TRIGGER index_tags AFTER UPDATE OF tags ON memory_memory
    FOR EACH ROW WHEN (OLD.tags IS DISTINCT FROM NEW.tags)
    EXECUTE FUNCTION palimpsest_index_tags();
