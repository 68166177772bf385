-- A function with its owner's rights that looks a name up in a session's temporary schema first
-- would run what the caller put there. It is looked in last where it is named, and only there.
DO $do$
DECLARE
    definer regprocedure;
BEGIN
    FOR definer IN
        SELECT oid::regprocedure FROM pg_proc
        WHERE prosecdef AND pronamespace = 'public'::regnamespace AND proname ~ '^palimpsest_'
    LOOP
        EXECUTE format(
            'ALTER FUNCTION %s SET search_path = pg_catalog, public, pg_temp', definer
        );
    END LOOP;
END
$do$;

-- What a team switches on or off decides what its answers hold.
CREATE FUNCTION palimpsest_move_revision_of_flags() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    moved uuid;
BEGIN
    UPDATE public.audit_teamrevision SET memories = memories + 1
    WHERE team_id = NEW.id AND id = (
        SELECT id FROM public.audit_teamrevision WHERE team_id = NEW.id LIMIT 1
    )
    RETURNING id INTO moved;
    IF moved IS NULL THEN
        INSERT INTO public.audit_teamrevision (id, team_id, memories, messages)
        VALUES (gen_random_uuid(), NEW.id, 1, 0);
    END IF;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER move_revision_of_flags AFTER UPDATE OF feature_flags ON teams_team
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.feature_flags IS DISTINCT FROM NEW.feature_flags)
    EXECUTE FUNCTION palimpsest_move_revision_of_flags();
