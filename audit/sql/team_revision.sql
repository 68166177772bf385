-- How often a team's memories and messages changed: the sums over its rows. A transaction that
-- changed something adds one as it commits, so the sums move in the order of the commits, and a
-- reader who finds them unchanged would find everything else unchanged.

-- Whether this is the transaction's first change of that kind in the team. A setting of the team's
-- own, local to the transaction, remembers; it is undone with the savepoint of the change.
CREATE FUNCTION palimpsest_is_first_change(kind text, team uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    name text := 'palimpsest.' || kind || '_' || replace(team::text, '-', '');
BEGIN
    IF current_setting(name, true) = 'changed' THEN
        RETURN false;
    END IF;
    PERFORM set_config(name, 'changed', true);
    RETURN true;
END
$$;

-- Adds one to a row of the team that no other transaction holds, or makes another row. Commits of
-- one team thereby neither wait for each other nor end in a deadlock, in whatever order one of them
-- changed several teams; a team gets as many rows as ever committed in it at the same moment. Runs
-- with the owner's rights: the application may read the revision and not write it.
CREATE FUNCTION palimpsest_move_revision() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    of_memories int := (TG_ARGV[0] = 'memories')::int;
    changed_team uuid;
    free uuid;
BEGIN
    IF TG_OP = 'DELETE' THEN
        changed_team := OLD.team_id;
    ELSE
        changed_team := NEW.team_id;
    END IF;
    SELECT id INTO free FROM public.audit_teamrevision WHERE team_id = changed_team
    LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    IF free IS NULL THEN
        INSERT INTO public.audit_teamrevision (id, team_id, memories, messages)
        VALUES (gen_random_uuid(), changed_team, of_memories, 1 - of_memories);
    ELSE
        UPDATE public.audit_teamrevision
        SET memories = memories + of_memories, messages = messages + 1 - of_memories
        WHERE team_id = changed_team AND id = free;
    END IF;
    RETURN NULL;
END
$$;

-- What an answer is made of moves the revision. The condition of a constraint trigger is read with
-- the change, its function runs with the commit: once for a team, however many rows changed.
DO $do$
DECLARE
    watched text;
BEGIN
    FOREACH watched IN ARRAY ARRAY['memory_memory', 'memory_contradiction', 'memory_memoryrelation']
    LOOP
        EXECUTE format($sql$
            CREATE CONSTRAINT TRIGGER move_revision AFTER INSERT OR UPDATE ON %I
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
                WHEN (palimpsest_is_first_change('memories', NEW.team_id))
                EXECUTE FUNCTION palimpsest_move_revision('memories')
        $sql$, watched);
    END LOOP;
    -- A memory is never removed.
    FOREACH watched IN ARRAY
        ARRAY['memory_searchentry', 'memory_contradiction', 'memory_memoryrelation']
    LOOP
        EXECUTE format($sql$
            CREATE CONSTRAINT TRIGGER move_revision_back AFTER DELETE ON %I
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
                WHEN (palimpsest_is_first_change('memories', OLD.team_id))
                EXECUTE FUNCTION palimpsest_move_revision('memories')
        $sql$, watched);
    END LOOP;
END
$do$;

-- Neither the vectors of a model that is not in use yet nor the place in the approximate index.
CREATE CONSTRAINT TRIGGER move_revision AFTER INSERT OR UPDATE OF embedding, embedding_model,
        lexemes, people, place, said_at, held_from, held_until, conversation_id, position
    ON memory_searchentry
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (palimpsest_is_first_change('memories', NEW.team_id))
    EXECUTE FUNCTION palimpsest_move_revision('memories');

-- What a person is called stands in the lines of their memories, so a new name moves the revision
-- of memories too.
CREATE CONSTRAINT TRIGGER move_revision_of_memories AFTER UPDATE OF display_name ON teams_enduser
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.display_name IS DISTINCT FROM NEW.display_name
        AND palimpsest_is_first_change('memories', NEW.team_id))
    EXECUTE FUNCTION palimpsest_move_revision('memories');

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
