-- The order of a team's log is the order in which its transactions committed. Each one that changes
-- a memory gets a position and a time as it commits; every row of the log names the commit it is
-- part of. So the state at an instant is, for each memory, its last row of a commit up to then.

-- Two transactions of one team commit one after the other: from the stamp until what it wrote can
-- be seen, a transaction holds this lock. Who waits for it, shared, then sees every commit of before.
CREATE FUNCTION palimpsest_commit_lock(team uuid) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT hashtextextended('palimpsest-commits|' || team::text, 0)
$$;

-- The commit of the transaction under way, made with its first row; the number is the log's alone,
-- as numbers of transactions begin again when a database is restored on another server.
CREATE FUNCTION palimpsest_current_commit(
    team uuid, OUT commit_id bigint, OUT stamped timestamptz, OUT is_new boolean
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    number bigint := pg_current_xact_id()::text::bigint;
BEGIN
    is_new := false;
    SELECT c.id, c.at INTO commit_id, stamped FROM public.audit_logcommit c
    WHERE c.team_id = team AND c.transaction_number = number
        AND c.began_at = transaction_timestamp();
    IF NOT FOUND THEN
        is_new := true;
        INSERT INTO public.audit_logcommit (team_id, transaction_number, began_at, is_last)
        VALUES (team, number, transaction_timestamp(), false)
        RETURNING id INTO commit_id;
    END IF;
END
$$;

-- Stamps a commit. It runs twice: the first time it lines up behind every other check that waits
-- for the end of the transaction, so that nothing is waited for while the team's lock is held.
CREATE FUNCTION palimpsest_stamp_commit() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    lock bigint;
    clock record;
    newest uuid;
    newest_seq bigint;
BEGIN
    IF NOT NEW.is_last THEN
        UPDATE public.audit_logcommit SET is_last = true
        WHERE team_id = NEW.team_id AND id = NEW.id;
        RETURN NULL;
    END IF;
    -- Those of all teams that the transaction changed, in one order, so that nobody deadlocks.
    FOR lock IN
        SELECT public.palimpsest_commit_lock(c.team_id) AS key FROM public.audit_logcommit c
        WHERE c.transaction_number = NEW.transaction_number AND c.at IS NULL
            AND c.began_at = NEW.began_at
        ORDER BY key
    LOOP
        PERFORM pg_advisory_xact_lock(lock);
    END LOOP;
    SELECT l.memory_id INTO newest FROM public.audit_memorylog l
    WHERE l.team_id = NEW.team_id AND l.commit_id = NEW.id ORDER BY l.memory_id DESC LIMIT 1;
    SELECT last_value INTO newest_seq FROM public.audit_memorylog_seq_seq;
    UPDATE public.audit_commitclock k
    SET position = k.position + 1,
        -- Never back, even when the server's clock was set back.
        at = greatest(clock_timestamp(), k.at + interval '1 microsecond'),
        last_seq = newest_seq,
        last_memory_id = greatest(k.last_memory_id, newest)
    WHERE k.team_id = NEW.team_id
    RETURNING k.position, k.at, k.last_seq, k.last_memory_id INTO clock;
    IF NOT FOUND THEN
        INSERT INTO public.audit_commitclock (id, team_id, position, at, last_seq, last_memory_id)
        VALUES (gen_random_uuid(), NEW.team_id, 1, clock_timestamp(), newest_seq, newest)
        RETURNING position, at, last_seq, last_memory_id INTO clock;
    END IF;
    UPDATE public.audit_logcommit
    SET position = clock.position, at = clock.at, last_seq = clock.last_seq,
        last_memory_id = clock.last_memory_id
    WHERE team_id = NEW.team_id AND id = NEW.id;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER stamp_commit AFTER INSERT OR UPDATE ON audit_logcommit
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.at IS NULL)
    EXECUTE FUNCTION palimpsest_stamp_commit();

-- A commit is written by its own transaction and never again, whoever asks.
CREATE FUNCTION palimpsest_keep_commit() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.id = OLD.id AND NEW.team_id = OLD.team_id
        AND OLD.transaction_number = pg_current_xact_id()::text::bigint
        AND OLD.began_at = transaction_timestamp()
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON audit_logcommit
    FOR EACH ROW EXECUTE FUNCTION palimpsest_keep_commit();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON audit_logcommit
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_refuse();

-- One row of the log, in the commit of the transaction under way. It runs with the owner's rights:
-- nobody else writes to the log.
CREATE FUNCTION palimpsest_write_log(
    event text, before jsonb, after jsonb, is_first boolean, detail jsonb, conversation uuid,
    revision bigint, at timestamptz
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    team uuid := (after->>'team_id')::uuid;
    entry record := public.palimpsest_current_commit(team);
BEGIN
    INSERT INTO public.audit_memorylog (team_id, memory_id, event, actor, reason, state, digest,
        conversation_id, revision, at, commit_id, is_first, new_end_user_id, detail)
    VALUES (
        team,
        (after->>'id')::uuid,
        event,
        coalesce(
            nullif(current_setting('palimpsest.actor', true), ''), 'database:' || session_user
        ),
        coalesce(current_setting('palimpsest.reason', true), ''),
        after,
        ''::bytea,
        conversation,
        revision,
        at,
        entry.commit_id,
        is_first,
        CASE WHEN before->>'end_user_id' IS DISTINCT FROM after->>'end_user_id'
            THEN (after->>'end_user_id')::uuid END,
        detail
    );
    -- Stamped before its end, where constraints were set to be checked at once: stamp it again.
    IF entry.is_new OR entry.stamped IS NOT NULL THEN
        UPDATE public.audit_logcommit c SET at = NULL, position = NULL, is_last = true
        WHERE c.team_id = team AND c.id = entry.commit_id AND c.at IS NOT NULL;
    END IF;
END
$$;
REVOKE ALL ON FUNCTION palimpsest_current_commit(uuid),
    palimpsest_write_log(text, jsonb, jsonb, boolean, jsonb, uuid, bigint, timestamptz) FROM PUBLIC;

-- Links stand apart from the memories and change none: a row of the log says which ones a memory
-- got or lost, beside the state it has, which is held until the transaction ends.
CREATE FUNCTION palimpsest_log_links() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    linked record;
    after jsonb;
BEGIN
    FOR linked IN
        SELECT c.team_id, c.from_memory_id,
            jsonb_build_object('links', jsonb_agg(jsonb_build_object(
                'to', c.to_memory_id, 'type', c.relation_type, 'strength', c.strength
            ) ORDER BY c.to_memory_id, c.relation_type)) AS detail
        FROM changed c GROUP BY c.team_id, c.from_memory_id ORDER BY c.team_id, c.from_memory_id
    LOOP
        SELECT public.palimpsest_memory_state(to_jsonb(m)) INTO after FROM public.memory_memory m
        WHERE m.team_id = linked.team_id AND m.id = linked.from_memory_id FOR NO KEY UPDATE;
        -- The reference to a memory that is not there is refused in a moment.
        CONTINUE WHEN after IS NULL;
        PERFORM public.palimpsest_write_log(
            TG_ARGV[0], after, after, false, linked.detail, NULL, NULL, clock_timestamp()
        );
    END LOOP;
    RETURN NULL;
END
$$;
CREATE TRIGGER log_links AFTER INSERT ON memory_memoryrelation
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_log_links('linked');
CREATE TRIGGER log_changed_links AFTER UPDATE ON memory_memoryrelation
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_log_links('linked');
CREATE TRIGGER log_lost_links AFTER DELETE ON memory_memoryrelation
    REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_log_links('unlinked');

-- A memory's `updated_at` is the time of its last row in the log, and nothing else moves it. The
-- name puts it behind the trigger that guards the row.
CREATE FUNCTION palimpsest_time_memory() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        NEW.updated_at := OLD.updated_at;
        IF NEW IS NOT DISTINCT FROM OLD THEN
            RETURN NEW;
        END IF;
    END IF;
    NEW.updated_at := clock_timestamp();
    RETURN NEW;
END
$$;
CREATE TRIGGER time_memory BEFORE INSERT OR UPDATE ON memory_memory
    FOR EACH ROW EXECUTE FUNCTION palimpsest_time_memory();
