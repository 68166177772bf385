-- An erasure takes away the recording that a memory was made of.
CREATE FUNCTION palimpsest_forget_recordings() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    DELETE FROM public.memory_workflowrecording
    WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER forget_recordings AFTER UPDATE OF erased_at ON memory_memory
    FOR EACH ROW WHEN (NEW.erased_at IS NOT NULL)
    EXECUTE FUNCTION palimpsest_forget_recordings();
