-- In place of the function of memory_forms.sql: artifacts with the lines that were changed in them.
-- `name` is what memory/domain/prediction/ownership.py calls the name of a file.
CREATE OR REPLACE FUNCTION palimpsest_index_artifacts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        DELETE FROM public.memory_memoryartifact
        WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    END IF;
    INSERT INTO public.memory_memoryartifact
        (id, team_id, memory_id, kind, ref, name, added, removed)
    SELECT gen_random_uuid(), NEW.team_id, NEW.id, artifact->>'kind', artifact->>'ref',
        ltrim(lower(regexp_replace(artifact->>'ref', '^.*/', '')), '_'),
        (artifact->>'added')::integer, (artifact->>'removed')::integer
    FROM jsonb_array_elements(NEW.payload->'artifacts') AS artifact
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

UPDATE memory_memoryartifact
SET name = ltrim(lower(regexp_replace(ref, '^.*/', '')), '_');
