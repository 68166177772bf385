-- Threads of graphs and items of a store are not written for a person who was erased: whoever looked
-- the person up before is turned away, as with memories (audit/sql/erasure_guards.sql). A row that
-- stays the person's needs no look, as the erasure waits for its writer and deletes it.

CREATE FUNCTION palimpsest_check_person_of_row() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.palimpsest_check_people(NEW.team_id, ARRAY[NEW.end_user_id]);
    RETURN NULL;
END
$$;
CREATE TRIGGER check_people AFTER INSERT ON memory_storeitem REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_check_people_of_rows();
CREATE TRIGGER check_person_named AFTER UPDATE ON memory_storeitem FOR EACH ROW
    WHEN (NEW.end_user_id IS DISTINCT FROM OLD.end_user_id AND NEW.end_user_id IS NOT NULL)
    EXECUTE FUNCTION palimpsest_check_person_of_row();
CREATE TRIGGER check_people AFTER INSERT ON memory_graphthread REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_check_people_of_rows();
CREATE TRIGGER check_person_named AFTER UPDATE ON memory_graphthread FOR EACH ROW
    WHEN (NEW.end_user_id IS DISTINCT FROM OLD.end_user_id AND NEW.end_user_id IS NOT NULL)
    EXECUTE FUNCTION palimpsest_check_person_of_row();
