-- Names that callers give may tell of a person: no samples of them for the planner, which knows by
-- the key that each stands once, and none are left of a memory that was erased.
ALTER TABLE memory_externalname ALTER COLUMN external_id SET STATISTICS 0;
ALTER TABLE memory_externalname ALTER COLUMN text_key SET STATISTICS 0;

CREATE FUNCTION palimpsest_forget_external_names() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    DELETE FROM public.memory_externalname WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER forget_external_names AFTER UPDATE OF erased_at ON memory_memory
    FOR EACH ROW WHEN (NEW.erased_at IS NOT NULL)
    EXECUTE FUNCTION palimpsest_forget_external_names();
