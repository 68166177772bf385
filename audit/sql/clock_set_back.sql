-- A clock that was set back. The commits of a team follow each other in time from one such moment
-- to the next; what a reader saw at a time is everything up to the last commit that has that time
-- or an earlier one. So what was committed while the clock was ahead is seen from then on, and of
-- an hour that the clock went through twice the second time holds.

-- Notes that the server's clock is behind the team's last commit, as a commit of its own without
-- changes. It bears a time of the last minute, but none before the last commit that is not ahead:
-- nobody knows when exactly the clock was set back. Returns how far ahead that last commit was;
-- null where it was not, up to a second, which commits outlast a microsecond apart.
CREATE OR REPLACE FUNCTION palimpsest_note_set_back(team uuid) RETURNS interval
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    clock record;
    since timestamptz;
    present timestamptz;
BEGIN
    -- A trigger calls it for a row that its writer was allowed to write.
    IF pg_trigger_depth() = 0 AND NOT team = ANY (public.palimpsest_team_ids()) THEN
        RAISE EXCEPTION 'the team is outside the transaction''s scope'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF current_setting('transaction_read_only')::boolean OR NOT EXISTS (
        SELECT FROM public.audit_commitclock k
        WHERE k.team_id = team AND k.at > clock_timestamp() + interval '1 second'
    ) THEN
        RETURN NULL;
    END IF;
    PERFORM pg_advisory_xact_lock(public.palimpsest_commit_lock(team));
    present := clock_timestamp();
    SELECT k.* INTO clock FROM public.audit_commitclock k
    WHERE k.team_id = team AND k.at > present + interval '1 second' FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT greatest(present - interval '1 minute', max(c.at) + interval '1 microsecond') INTO since
    FROM public.audit_logcommit c WHERE c.team_id = team AND c.at <= present;
    INSERT INTO public.audit_logcommit (team_id, transaction_number, began_at, is_last,
        position, at, last_seq, last_memory_id, is_set_back)
    VALUES (team, -(clock.position + 1), present, true,
        clock.position + 1, since, clock.last_seq, clock.last_memory_id, true);
    UPDATE public.audit_commitclock k SET position = clock.position + 1, at = since
    WHERE k.team_id = team;
    INSERT INTO public.audit_operationalevent (id, team_id, at, node, op, status, meta)
    VALUES (gen_random_uuid(), team, present, 'log', 'clock_set_back', 'ok',
        jsonb_build_object('seconds', round(extract(epoch FROM clock.at - present))));
    RAISE WARNING 'the clock is % behind the last commit of team %', clock.at - present, team;
    RETURN clock.at - present;
END
$$;

-- How many of the team's commits were done at that time, for whoever may see the team.
CREATE OR REPLACE FUNCTION palimpsest_position_at(team uuid, moment timestamptz) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT c.position FROM audit_logcommit c
    WHERE c.team_id = team AND c.at <= moment AND c.position >= coalesce((
        SELECT b.position FROM audit_logcommit b
        WHERE b.team_id = team AND b.is_set_back AND b.at <= moment
        ORDER BY b.position DESC LIMIT 1
    ), 0)
    ORDER BY c.at DESC, c.position DESC LIMIT 1
$$;

-- As in commit_order.sql, but that a clock that was set back is noted before the commit.
CREATE OR REPLACE FUNCTION palimpsest_stamp_commit() RETURNS trigger
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
    PERFORM public.palimpsest_note_set_back(NEW.team_id);
    SELECT l.memory_id INTO newest FROM public.audit_memorylog l
    WHERE l.team_id = NEW.team_id AND l.commit_id = NEW.id ORDER BY l.memory_id DESC LIMIT 1;
    SELECT last_value INTO newest_seq FROM public.audit_memorylog_seq_seq;
    UPDATE public.audit_commitclock k
    SET position = k.position + 1,
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

REVOKE ALL ON FUNCTION palimpsest_note_set_back(uuid), palimpsest_position_at(uuid, timestamptz)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_note_set_back(uuid),
    palimpsest_position_at(uuid, timestamptz) TO palimpsest_app;
