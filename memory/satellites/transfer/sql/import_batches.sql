CREATE FUNCTION palimpsest_forget_imported() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    batch record;
    rest jsonb;
BEGIN
    -- A writer holds the import before its batches.
    PERFORM FROM public.memory_importrun r
    WHERE r.team_id = OLD.team_id AND EXISTS (
        SELECT FROM public.memory_importbatch b
        WHERE b.team_id = r.team_id AND b.run_id = r.id AND OLD.external_id = ANY (b.users)
    )
    ORDER BY r.id FOR UPDATE;
    FOR batch IN
        SELECT b.id, b.run_id, b.items FROM public.memory_importbatch b
        WHERE b.team_id = OLD.team_id AND OLD.external_id = ANY (b.users)
        ORDER BY b.id FOR UPDATE
    LOOP
        SELECT coalesce(jsonb_agg(item.value ORDER BY item.place), '[]') INTO rest
        FROM jsonb_array_elements(batch.items) WITH ORDINALITY AS item (value, place)
        WHERE item.value->>'user' IS DISTINCT FROM OLD.external_id;
        UPDATE public.memory_importbatch b
        SET users = array_remove(b.users, OLD.external_id), items = rest
        WHERE b.team_id = OLD.team_id AND b.id = batch.id;
        UPDATE public.memory_importrun r
        SET total = r.total - (jsonb_array_length(batch.items) - jsonb_array_length(rest))
        WHERE r.team_id = OLD.team_id AND r.id = batch.run_id;
    END LOOP;
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
