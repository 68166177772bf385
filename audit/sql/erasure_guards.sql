CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON teams_message
    FOR EACH ROW EXECUTE FUNCTION palimpsest_refuse_but_erasure();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON audit_memorylog
    FOR EACH ROW EXECUTE FUNCTION palimpsest_refuse_but_erasure();

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
