-- What keeps an erasure final: rows that it may empty and nobody else, writers that are turned away.

DROP TRIGGER append_only ON teams_message;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON teams_message
    FOR EACH ROW EXECUTE FUNCTION palimpsest_refuse_but_erasure();
DROP TRIGGER append_only ON audit_memorylog;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON audit_memorylog
    FOR EACH ROW EXECUTE FUNCTION palimpsest_refuse_but_erasure();

-- The text of a memory and what identifies it never change; a correction is another row. What is
-- erased stays as it is: a writer who read it before must not write it back.
CREATE OR REPLACE FUNCTION palimpsest_guard_memory() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.erased_at IS NOT NULL THEN
        RAISE EXCEPTION 'the memory was erased' USING ERRCODE = 'serialization_failure';
    END IF;
    IF (NEW.id, NEW.team_id, NEW.content, NEW.created_at, NEW.extractor, NEW.actor,
        NEW.source_message_ids[1:cardinality(OLD.source_message_ids)], NEW.salt, NEW.erased_at)
       IS DISTINCT FROM
       (OLD.id, OLD.team_id, OLD.content, OLD.created_at, OLD.extractor, OLD.actor,
        OLD.source_message_ids, OLD.salt, OLD.erased_at)
       AND NOT (
           (NEW.id, NEW.team_id, NEW.content, NEW.created_at, NEW.extractor, NEW.actor,
            NEW.source_message_ids)
           IS NOT DISTINCT FROM
           (OLD.id, OLD.team_id, public.palimpsest_erased_text(), OLD.created_at, OLD.extractor,
            OLD.actor, OLD.source_message_ids)
           AND NEW.erased_at IS NOT NULL
           AND public.palimpsest_is_erasing()
       )
    THEN
        RAISE EXCEPTION 'the text and origin of a memory never change; write a new version'
            USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.updated_at := clock_timestamp();
    RETURN NEW;
END
$$;

-- Ends a transaction that writes for a person who was erased while it was under way, or since. It
-- takes the lock that the reference to the person takes anyway, so it waits for an erasure that has
-- not committed yet; run again, the transaction finds the person no more.
CREATE FUNCTION palimpsest_check_people(asked_team uuid, people uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM teams_enduser WHERE team_id = asked_team AND id = ANY (people)
    ORDER BY id FOR KEY SHARE;
    IF EXISTS (
        SELECT FROM audit_erasure WHERE team_id = asked_team AND end_user_id = ANY (people)
    ) THEN
        RAISE EXCEPTION 'the person was erased' USING ERRCODE = 'serialization_failure';
    END IF;
END
$$;
REVOKE ALL ON FUNCTION palimpsest_check_people(uuid, uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_check_people(uuid, uuid[]) TO palimpsest_app;
CREATE FUNCTION palimpsest_check_people_of_rows() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.palimpsest_check_people(team_id, array_agg(DISTINCT end_user_id))
    FROM written WHERE end_user_id IS NOT NULL GROUP BY team_id;
    RETURN NULL;
END
$$;
CREATE FUNCTION palimpsest_check_people_of_conversations() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.palimpsest_check_people(c.team_id, array_agg(DISTINCT c.end_user_id))
    FROM (SELECT DISTINCT team_id, conversation_id FROM written) w
    JOIN public.teams_conversation c ON c.team_id = w.team_id AND c.id = w.conversation_id
    GROUP BY c.team_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER check_people AFTER INSERT ON memory_memory REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_check_people_of_rows();
CREATE TRIGGER check_people AFTER INSERT ON teams_conversation REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_check_people_of_rows();
CREATE TRIGGER check_people AFTER INSERT ON teams_checkpoint REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_check_people_of_rows();
CREATE TRIGGER check_people AFTER INSERT ON teams_message REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_check_people_of_conversations();
CREATE TRIGGER check_people_of_conversation AFTER INSERT ON memory_memory
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_check_people_of_conversations();

-- Likewise for the person's own row: a form that was opened before must not bring a name back.
CREATE FUNCTION palimpsest_keep_person_erased() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM audit_erasure WHERE team_id = OLD.team_id AND end_user_id = OLD.id
    ) AND NOT palimpsest_is_erasing() THEN
        RAISE EXCEPTION 'the person was erased' USING ERRCODE = 'serialization_failure';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER keep_erased BEFORE UPDATE ON teams_enduser
    FOR EACH ROW EXECUTE FUNCTION palimpsest_keep_person_erased();
