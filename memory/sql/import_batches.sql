-- Who is erased leaves what waits of an import as well: their items go, whatever is said of others.
CREATE FUNCTION palimpsest_forget_imported() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE public.memory_importbatch b
    SET users = array_remove(b.users, OLD.external_id),
        items = (
            SELECT coalesce(jsonb_agg(item.value ORDER BY item.place), '[]')
            FROM jsonb_array_elements(b.items) WITH ORDINALITY AS item (value, place)
            WHERE item.value->>'user' IS DISTINCT FROM OLD.external_id
        )
    WHERE b.team_id = OLD.team_id AND OLD.external_id = ANY (b.users);
    -- What could not be written may be named there.
    UPDATE public.memory_importrun r SET errors = '[]'
    WHERE r.team_id = OLD.team_id AND r.errors <> '[]';
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION palimpsest_forget_imported() FROM PUBLIC;
CREATE TRIGGER forget_imported AFTER UPDATE OF external_id ON teams_enduser
    FOR EACH ROW WHEN (NEW.external_id = 'erased-' || NEW.id)
    EXECUTE FUNCTION palimpsest_forget_imported();
