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

UPDATE memory_memoryartifact AS artifact
SET name = ltrim(lower(regexp_replace(artifact.ref, '^.*/', '')), '_'), breadth = counted.breadth
FROM (
    SELECT team_id, memory_id, kind, count(*) AS breadth
    FROM memory_memoryartifact GROUP BY team_id, memory_id, kind
) AS counted
WHERE (artifact.team_id, artifact.memory_id, artifact.kind)
    = (counted.team_id, counted.memory_id, counted.kind);
