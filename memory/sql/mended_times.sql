-- A memory's own time never changes, but for one that is still to come: the clock was ahead when it
-- was written and has been set back. It may become a time that has been; the log says when.
CREATE OR REPLACE FUNCTION palimpsest_guard_memory() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    told_at timestamptz := CASE
        WHEN OLD.created_at > clock_timestamp() AND NEW.created_at <= clock_timestamp()
        THEN OLD.created_at ELSE NEW.created_at END;
BEGIN
    IF OLD.erased_at IS NOT NULL THEN
        RAISE EXCEPTION 'the memory was erased' USING ERRCODE = 'serialization_failure';
    END IF;
    IF (NEW.id, NEW.team_id, NEW.content, told_at, NEW.extractor, NEW.actor,
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

-- What a search knows of the time follows.
CREATE FUNCTION palimpsest_mend_entry() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE public.memory_searchentry SET said_at = NEW.created_at
    WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER mend_entry AFTER UPDATE OF created_at ON memory_memory
    FOR EACH ROW WHEN (OLD.created_at IS DISTINCT FROM NEW.created_at)
    EXECUTE FUNCTION palimpsest_mend_entry();
