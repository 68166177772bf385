-- No request is written for a person who was erased (audit/sql/erasure_guards.sql).
CREATE TRIGGER check_people AFTER INSERT ON memory_consentrequest REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_check_people_of_rows();

-- An erasure of a person takes away the requests about them and of their conversations, and one of a
-- memory the requests that it is a part of.
CREATE FUNCTION palimpsest_forget_consent_of_person() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF palimpsest_is_erasing() THEN
        DELETE FROM public.memory_consentrequest r
        WHERE r.team_id = NEW.team_id AND (r.end_user_id = NEW.id OR r.draft->>'conversation_id' IN (
            SELECT c.id::text FROM public.teams_conversation c
            WHERE c.team_id = NEW.team_id AND c.end_user_id = NEW.id
        ));
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER forget_consent AFTER UPDATE OF external_id ON teams_enduser
    FOR EACH ROW WHEN (NEW.external_id = 'erased-' || NEW.id)
    EXECUTE FUNCTION palimpsest_forget_consent_of_person();

CREATE INDEX memory_consent_by_part ON memory_consentrequest
    USING gin ((draft->'parts')) WHERE kind = 'team_fact';
CREATE FUNCTION palimpsest_forget_consent_of_memory() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    DELETE FROM public.memory_consentrequest
    WHERE team_id = NEW.team_id AND kind = 'team_fact' AND draft->'parts' ? NEW.id::text;
    RETURN NULL;
END
$$;
CREATE TRIGGER forget_consent AFTER UPDATE OF erased_at ON memory_memory
    FOR EACH ROW WHEN (NEW.erased_at IS NOT NULL)
    EXECUTE FUNCTION palimpsest_forget_consent_of_memory();
