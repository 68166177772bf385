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

-- An erasure of a person takes away their threads and items, and one of a memory its item.
CREATE FUNCTION palimpsest_forget_graphs() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF palimpsest_is_erasing() THEN
        DELETE FROM public.memory_graphthread
        WHERE team_id = NEW.team_id AND end_user_id = NEW.id;
        DELETE FROM public.memory_storeitem WHERE team_id = NEW.team_id AND end_user_id = NEW.id;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER forget_graphs AFTER UPDATE OF external_id ON teams_enduser
    FOR EACH ROW WHEN (NEW.external_id = 'erased-' || NEW.id)
    EXECUTE FUNCTION palimpsest_forget_graphs();
CREATE FUNCTION palimpsest_forget_items() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    DELETE FROM public.memory_storeitem WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER forget_items AFTER UPDATE OF erased_at ON memory_memory
    FOR EACH ROW WHEN (NEW.erased_at IS NOT NULL)
    EXECUTE FUNCTION palimpsest_forget_items();

CREATE FUNCTION palimpsest_count_graphs(asked_team uuid, person uuid) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'checkpoints', (
            SELECT count(*) FROM memory_graphcheckpoint c
            JOIN memory_graphthread t ON t.team_id = c.team_id AND t.id = c.thread_id
            WHERE c.team_id = asked_team AND t.end_user_id = person
        ),
        'items', (
            SELECT count(*) FROM memory_storeitem
            WHERE team_id = asked_team AND end_user_id = person
        )
    )
$$;
INSERT INTO audit_erasurepart (counted_by) VALUES ('palimpsest_count_graphs');
