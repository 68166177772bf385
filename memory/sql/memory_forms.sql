-- Keeps memory_memoryartifact equal to memory_memory.payload; an erasure empties both. `name` is
-- the file's name in lower case without leading underscores.
CREATE FUNCTION palimpsest_index_artifacts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        DELETE FROM public.memory_memoryartifact
        WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    END IF;
    INSERT INTO public.memory_memoryartifact
        (id, team_id, memory_id, kind, ref, name, added, removed, breadth)
    SELECT gen_random_uuid(), NEW.team_id, NEW.id, artifact->>'kind', artifact->>'ref',
        ltrim(lower(regexp_replace(artifact->>'ref', '^.*/', '')), '_'),
        (artifact->>'added')::integer, (artifact->>'removed')::integer,
        count(*) OVER (PARTITION BY artifact->>'kind')
    FROM jsonb_array_elements(NEW.payload->'artifacts') AS artifact
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER index_artifacts_of_new AFTER INSERT ON memory_memory
    FOR EACH ROW WHEN (NEW.form <> '' AND NEW.payload ? 'artifacts')
    EXECUTE FUNCTION palimpsest_index_artifacts();
CREATE TRIGGER index_artifacts AFTER UPDATE OF payload ON memory_memory
    FOR EACH ROW WHEN (OLD.form <> '' AND OLD.payload IS DISTINCT FROM NEW.payload)
    EXECUTE FUNCTION palimpsest_index_artifacts();
