-- Functions of a database that Citus distributes (`manage.py distribute`), in place of those of the
-- same names: no statement there may read a transition table and a table of teams together.

CREATE OR REPLACE FUNCTION palimpsest_log_new_memories() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    memory jsonb;
    changed_at timestamptz;
    conversation uuid;
    new_revision bigint;
BEGIN
    FOR memory, changed_at IN SELECT to_jsonb(w), w.updated_at FROM written w LOOP
        conversation := coalesce(
            memory->>'conversation_id', nullif(current_setting('palimpsest.conversation_id', true), '')
        )::uuid;
        new_revision := NULL;
        IF conversation IS NOT NULL THEN
            UPDATE public.teams_conversation SET revision = revision + 1
            WHERE team_id = (memory->>'team_id')::uuid AND id = conversation
            RETURNING revision INTO new_revision;
        END IF;
        memory := public.palimpsest_memory_state(memory);
        PERFORM public.palimpsest_write_log(
            public.palimpsest_memory_event(NULL, memory), NULL, memory, true, NULL, conversation,
            new_revision, changed_at
        );
    END LOOP;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION palimpsest_check_people_of_conversations() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    team uuid;
    conversations uuid[];
    people uuid[];
BEGIN
    FOR team, conversations IN
        SELECT w.team_id, array_agg(DISTINCT w.conversation_id) FROM written w GROUP BY w.team_id
    LOOP
        SELECT array_agg(DISTINCT c.end_user_id) INTO people FROM public.teams_conversation c
        WHERE c.team_id = team AND c.id = ANY (conversations);
        PERFORM public.palimpsest_check_people(team, people);
    END LOOP;
    RETURN NULL;
END
$$;

-- As in commit_order.sql, but for the lock of this team alone, as those of other teams are on other
-- servers, and with the clock's new row worked out first: an UPDATE there calls no function that is
-- not immutable.
CREATE OR REPLACE FUNCTION palimpsest_stamp_commit() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    clock record;
    newest uuid;
    newest_seq bigint;
    stamped timestamptz;
BEGIN
    IF NOT NEW.is_last THEN
        UPDATE public.audit_logcommit SET is_last = true
        WHERE team_id = NEW.team_id AND id = NEW.id;
        RETURN NULL;
    END IF;
    PERFORM pg_advisory_xact_lock(public.palimpsest_commit_lock(NEW.team_id));
    SELECT l.memory_id INTO newest FROM public.audit_memorylog l
    WHERE l.team_id = NEW.team_id AND l.commit_id = NEW.id ORDER BY l.memory_id DESC LIMIT 1;
    SELECT last_value INTO newest_seq FROM public.audit_memorylog_seq_seq;
    SELECT k.position, k.at, k.last_memory_id INTO clock
    FROM public.audit_commitclock k WHERE k.team_id = NEW.team_id;
    stamped := greatest(clock_timestamp(), clock.at + interval '1 microsecond');
    newest := greatest(clock.last_memory_id, newest);
    IF clock.position IS NULL THEN
        INSERT INTO public.audit_commitclock (id, team_id, position, at, last_seq, last_memory_id)
        VALUES (gen_random_uuid(), NEW.team_id, 1, stamped, newest_seq, newest);
    ELSE
        UPDATE public.audit_commitclock k
        SET position = k.position + 1, at = stamped, last_seq = newest_seq, last_memory_id = newest
        WHERE k.team_id = NEW.team_id;
    END IF;
    UPDATE public.audit_logcommit
    SET position = coalesce(clock.position, 0) + 1, at = stamped, last_seq = newest_seq,
        last_memory_id = newest
    WHERE team_id = NEW.team_id AND id = NEW.id;
    RETURN NULL;
END
$$;
