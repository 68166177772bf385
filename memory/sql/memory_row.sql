-- Forms of memories: a payload is as unchangeable as the text, and what it names can be looked up.

-- The text of a memory, its form and the
-- payload of it, and what identifies the memory never change; a correction is another row. What is
-- erased stays as it is: a writer who read it before must not write it back. An erasure leaves the
-- form, which tells nothing of a person.
CREATE FUNCTION palimpsest_guard_memory() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.erased_at IS NOT NULL THEN
        RAISE EXCEPTION 'the memory was erased' USING ERRCODE = 'serialization_failure';
    END IF;
    IF (NEW.id, NEW.team_id, NEW.content, NEW.created_at, NEW.extractor, NEW.actor,
        NEW.source_message_ids[1:cardinality(OLD.source_message_ids)], NEW.salt, NEW.erased_at,
        NEW.form, CASE WHEN OLD.form = '' THEN '{}' ELSE NEW.payload END)
       IS DISTINCT FROM
       (OLD.id, OLD.team_id, OLD.content, OLD.created_at, OLD.extractor, OLD.actor,
        OLD.source_message_ids, OLD.salt, OLD.erased_at,
        OLD.form, CASE WHEN OLD.form = '' THEN '{}' ELSE OLD.payload END)
       AND NOT (
           (NEW.id, NEW.team_id, NEW.content, NEW.created_at, NEW.extractor, NEW.actor,
            NEW.source_message_ids, NEW.form, NEW.payload)
           IS NOT DISTINCT FROM
           (OLD.id, OLD.team_id, public.palimpsest_erased_text(), OLD.created_at, OLD.extractor,
            OLD.actor, OLD.source_message_ids, OLD.form, '{}'::jsonb)
           AND NEW.erased_at IS NOT NULL
           AND public.palimpsest_is_erasing()
       )
    THEN
        RAISE EXCEPTION 'the text, payload and origin of a memory never change; write a new version'
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
