-- Making what is held of one person unreadable, everywhere, and letting nothing else be changed.
-- Satellites empty their own tables: triggers follow `erased_at` of memories and the `external_id` of
-- a person, which becomes "erased-" and the id. What they count for the plan is registered below.

-- Whether the caller is palimpsest_erase_user or palimpsest_erase_purged, run for whoever called it
-- with the owner's rights. A setting could be set by others; the call stack, the role and the
-- erasure's row cannot.
CREATE FUNCTION palimpsest_is_erasing() RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    stack text;
BEGIN
    GET DIAGNOSTICS stack = PG_CONTEXT;
    RETURN (
            position(E'\nPL/pgSQL function palimpsest_erase_user(uuid,uuid,text) line ' IN stack) > 0
            OR position(
                E'\nPL/pgSQL function palimpsest_erase_purged(uuid,uuid[],text) line ' IN stack
            ) > 0
        )
        AND current_user = (
            SELECT pg_get_userbyid(relowner) FROM pg_class
            WHERE oid = 'public.audit_erasure'::regclass
        )
        AND EXISTS (SELECT FROM public.audit_erasure WHERE xact = pg_current_xact_id());
END
$$;

-- In place of palimpsest_refuse: an erasure may empty a row in exactly one way, nobody may do more.
CREATE FUNCTION palimpsest_refuse_but_erasure() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    emptied jsonb;
BEGIN
    IF TG_OP = 'UPDATE' AND public.palimpsest_is_erasing() THEN
        IF TG_TABLE_NAME = 'teams_message' THEN
            emptied := to_jsonb(OLD) || jsonb_build_object(
                'content', public.palimpsest_erased_text(), 'name', '', 'external_id', NULL);
        ELSE
            emptied := to_jsonb(OLD) || jsonb_build_object('reason', '', 'reason_salt', NULL);
            IF NEW.state <> OLD.state THEN
                emptied := emptied || jsonb_build_object('state', public.palimpsest_erased_state(
                    to_jsonb(OLD)->'state', to_jsonb(NEW)->'state'->'erased_at'));
            END IF;
        END IF;
        IF to_jsonb(NEW) = emptied THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation';
END
$$;
-- Whether a memory is a fact of the team that somebody else's words state as well: its words are
-- theirs too, so that it stands without this person's part.
CREATE FUNCTION palimpsest_stands_on_others(asked_team uuid, memory uuid, person uuid)
RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM memory_memory fact
        JOIN memory_memoryrelation r ON r.team_id = asked_team AND r.from_memory_id = fact.id
            AND r.relation_type = 'derived_from'
        JOIN memory_memory part ON part.team_id = asked_team AND part.id = r.to_memory_id
        WHERE fact.team_id = asked_team AND fact.id = memory AND fact.extractor = 'team_facts'
            AND part.end_user_id <> person AND part.erased_at IS NULL
    )
$$;

-- The memories that go with a person: those about that person, and those about nobody that rest on
-- what that person alone said or that were merged with, or derived from, one of these.
CREATE FUNCTION palimpsest_memories_of_person(asked_team uuid, person uuid)
RETURNS TABLE (memory_id uuid)
LANGUAGE sql STABLE AS $$
    WITH RECURSIVE own AS (
        SELECT m.id FROM memory_memory m
        WHERE m.team_id = asked_team AND m.end_user_id = person
        UNION
        SELECT m.id FROM memory_memory m
        LEFT JOIN teams_conversation c ON c.team_id = m.team_id AND c.id = m.conversation_id
        CROSS JOIN LATERAL (
            SELECT bool_or(said.end_user_id = person) AS some, bool_and(said.end_user_id = person)
                AS only_this_one
            FROM teams_message t
            JOIN teams_conversation said ON said.team_id = t.team_id AND said.id = t.conversation_id
            WHERE t.team_id = m.team_id AND t.id = ANY (m.source_message_ids)
        ) AS sources
        WHERE m.team_id = asked_team AND m.end_user_id IS NULL
            AND (c.end_user_id = person OR sources.some) AND coalesce(sources.only_this_one, true)
            AND NOT palimpsest_stands_on_others(asked_team, m.id, person)
        UNION
        SELECT m.id FROM own
        JOIN memory_memoryrelation r ON r.team_id = asked_team AND r.to_memory_id = own.id
            AND r.relation_type IN ('merged_from', 'derived_from')
        JOIN memory_memory m ON m.team_id = asked_team AND m.id = r.from_memory_id
            AND m.end_user_id IS NULL
            AND NOT palimpsest_stands_on_others(asked_team, m.id, person)
    )
    SELECT id FROM own
$$;

-- The other memories that were ever in dispute with one of these, directly or through another.
CREATE FUNCTION palimpsest_memories_in_dispute(asked_team uuid, own uuid[])
RETURNS TABLE (memory_id uuid)
LANGUAGE sql STABLE AS $$
    WITH RECURSIVE met AS (
        SELECT unnest(own) AS id
        UNION
        SELECT other.id FROM met CROSS JOIN LATERAL (
            SELECT c.memory_b_id AS id FROM memory_contradiction c
            WHERE c.team_id = asked_team AND c.memory_a_id = met.id AND c.memory_b_id IS NOT NULL
            UNION ALL
            SELECT c.memory_a_id FROM memory_contradiction c
            WHERE c.team_id = asked_team AND c.memory_b_id = met.id
        ) AS other
    )
    SELECT id FROM met WHERE id <> ALL (own)
$$;

-- The names of satellites' functions (asked_team uuid, person uuid) that count rows for a plan, as an
-- object of its keys.
CREATE TABLE audit_erasurepart (counted_by text PRIMARY KEY);
REVOKE ALL ON audit_erasurepart FROM palimpsest_app;
GRANT SELECT ON audit_erasurepart TO palimpsest_app;
CREATE FUNCTION palimpsest_count_parts(asked_team uuid, person uuid, key text) RETURNS bigint
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    part text;
    counted jsonb;
    total bigint := 0;
BEGIN
    FOR part IN SELECT counted_by FROM public.audit_erasurepart LOOP
        EXECUTE format('SELECT public.%I($1, $2)', part) INTO counted USING asked_team, person;
        total := total + coalesce((counted->>key)::bigint, 0);
    END LOOP;
    RETURN total;
END
$$;

-- What an erasure of the person would empty, and `kept`: up to 100 readable memories about others
-- or about nobody that rest on it in part, for a person to look at. Null for somebody unknown.
CREATE FUNCTION palimpsest_erasure_plan(asked_team uuid, person uuid) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    WITH own AS MATERIALIZED (
        SELECT memory_id FROM palimpsest_memories_of_person(asked_team, person)
    ), talk AS MATERIALIZED (
        SELECT id FROM teams_conversation WHERE team_id = asked_team AND end_user_id = person
    )
    SELECT jsonb_build_object(
        'memories', (SELECT count(*) FROM own),
        'log_entries', (
            SELECT count(*) FROM audit_memorylog
            WHERE team_id = asked_team AND memory_id IN (SELECT memory_id FROM own)
        ),
        'conversations', (SELECT count(*) FROM talk),
        'messages', (
            SELECT count(*) FROM teams_message
            WHERE team_id = asked_team AND conversation_id IN (SELECT id FROM talk)
        ),
        'compactions', (
            SELECT count(*) FROM memory_compaction
            WHERE team_id = asked_team AND conversation_id IN (SELECT id FROM talk)
        ),
        'checkpoints', (
            SELECT count(*) FROM teams_checkpoint
            WHERE team_id = asked_team AND end_user_id = person
        ) + palimpsest_count_parts(asked_team, person, 'checkpoints'),
        'items', palimpsest_count_parts(asked_team, person, 'items'),
        'kept', (
            SELECT coalesce(jsonb_agg(id ORDER BY id), '[]') FROM (
                SELECT m.id FROM memory_memory m
                WHERE m.team_id = asked_team AND m.erased_at IS NULL
                    AND m.id NOT IN (SELECT memory_id FROM own)
                    AND (
                        EXISTS (
                            SELECT FROM teams_message t
                            WHERE t.team_id = asked_team AND t.id = ANY (m.source_message_ids)
                                AND t.conversation_id IN (SELECT id FROM talk)
                        )
                        OR EXISTS (
                            SELECT FROM memory_memoryrelation r
                            WHERE r.team_id = asked_team AND r.from_memory_id = m.id
                                AND r.relation_type IN ('merged_from', 'derived_from')
                                AND r.to_memory_id IN (SELECT memory_id FROM own)
                        )
                    )
                LIMIT 100
            ) AS partly
        )
    )
    WHERE EXISTS (SELECT FROM teams_enduser WHERE team_id = asked_team AND id = person)
        AND NOT EXISTS (
            SELECT FROM audit_erasure WHERE team_id = asked_team AND end_user_id = person
        )
$$;

-- Empties memories and what the log says of them; for the two erasures below, which have locked the
-- memories and written their row.
CREATE FUNCTION palimpsest_empty_memories(
    asked_team uuid, gone uuid[], acting text, moment timestamptz
) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    met uuid[];
    erased CONSTANT text := palimpsest_erased_text();
BEGIN
    -- Why others were changed together with it: whoever settled a dispute gave one reason for all of
    -- its sides. Before the disputes end, as that has a reason of its own.
    met := ARRAY(SELECT memory_id FROM palimpsest_memories_in_dispute(asked_team, gone));
    UPDATE audit_memorylog l SET reason = '', reason_salt = NULL
    WHERE l.team_id = asked_team AND l.memory_id = ANY (met) AND l.reason_salt IS NOT NULL
        AND EXISTS (
            SELECT FROM audit_memorylog own
            WHERE own.team_id = asked_team AND own.commit_id = l.commit_id
                AND own.memory_id = ANY (gone)
        );

    -- What it is found by.
    DELETE FROM memory_searchentry WHERE team_id = asked_team AND memory_id = ANY (gone);
    DELETE FROM memory_memoryusage WHERE team_id = asked_team AND memory_id = ANY (gone);

    -- Disputes end as if its side were deleted: the other one stands.
    UPDATE memory_contradiction
    SET resolution = CASE WHEN memory_a_id = ANY (gone) THEN 'b_wins' ELSE 'a_wins' END,
        resolved_by = acting, resolved_at = moment
    WHERE team_id = asked_team AND resolved_at IS NULL
        AND (memory_a_id = ANY (gone) OR memory_b_id = ANY (gone));
    UPDATE memory_contradiction SET reason = erased, resolution_note = ''
    WHERE team_id = asked_team AND (memory_a_id = ANY (gone) OR memory_b_id = ANY (gone));
    UPDATE memory_memory m
    SET contradicts = rest.ids,
        status = CASE
            WHEN m.status = 'disputed' AND rest.ids = '{}' AND NOT EXISTS (
                SELECT FROM memory_contradiction c
                WHERE c.team_id = asked_team AND c.memory_a_id = m.id AND c.memory_b_id IS NULL
                    AND c.resolved_at IS NULL
            ) THEN 'active' ELSE m.status END
    FROM memory_memory o
    CROSS JOIN LATERAL (
        SELECT ARRAY(
            SELECT one FROM unnest(o.contradicts) WITH ORDINALITY AS each (one, place)
            WHERE one <> ALL (gone) ORDER BY place
        ) AS ids
    ) AS rest
    WHERE o.team_id = asked_team AND o.contradicts && gone AND o.id <> ALL (gone)
        AND m.team_id = o.team_id AND m.id = o.id;

    -- The memories, then what the log says of them.
    UPDATE memory_memory SET
        content = erased, salt = NULL, erased_at = moment, subject = '', category = '', tags = '{}',
        payload = '{}', external_id = NULL, source_external_ids = '{}', dedupe_key = NULL,
        valid_from = NULL, valid_to = NULL, contradicts = '{}', is_pinned = false, tier = 'cold',
        status = CASE status WHEN 'purged' THEN 'purged' ELSE 'soft_deleted' END,
        purge_at = NULL
    WHERE team_id = asked_team AND id = ANY (gone) AND erased_at IS NULL;
    UPDATE audit_memorylog
    SET state = palimpsest_erased_state(state, to_jsonb(moment)), reason = '', reason_salt = NULL
    WHERE team_id = asked_team AND memory_id = ANY (gone) AND state->>'erased_at' IS NULL;

    -- What else may hold a word of it.
    UPDATE audit_operationalevent SET meta = '{}'
    WHERE team_id = asked_team AND meta <> '{}' AND memory_id = ANY (gone);
    UPDATE django_admin_log SET object_repr = erased, change_message = ''
    WHERE object_id = ANY (gone::text[]);
END
$$;
REVOKE ALL ON FUNCTION palimpsest_empty_memories(uuid, uuid[], text, timestamptz) FROM PUBLIC;

-- Erases a person of a team of the transaction's scope and says what that was, as the plan does;
-- null for somebody unknown. Rows stay, with their numbers, positions, times and ids: only what
-- they say goes. Actor and reason of the log's rows are the transaction's.
CREATE FUNCTION palimpsest_erase_user(asked_team uuid, person uuid, why text) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    moment timestamptz;
    counts jsonb;
    talk uuid[];
    gone uuid[];
    acting text := coalesce(current_setting('palimpsest.actor', true), '');
    erased CONSTANT text := palimpsest_erased_text();
BEGIN
    IF NOT asked_team = ANY (palimpsest_team_ids()) THEN
        RAISE EXCEPTION 'the team is outside the transaction''s scope'
            USING ERRCODE = 'insufficient_privilege';
    END IF;

    -- In the order of writers: their conversation, the memories they change, the person of what
    -- they add. From the last lock on nobody writes for the person any more.
    PERFORM FROM teams_conversation WHERE team_id = asked_team AND end_user_id = person
    ORDER BY id FOR UPDATE;
    PERFORM FROM memory_memory WHERE team_id = asked_team AND end_user_id = person
    ORDER BY id FOR UPDATE;
    PERFORM FROM teams_enduser WHERE team_id = asked_team AND id = person FOR UPDATE;
    counts := palimpsest_erasure_plan(asked_team, person);
    IF counts IS NULL THEN
        RETURN NULL;
    END IF;
    talk := ARRAY(
        SELECT id FROM teams_conversation WHERE team_id = asked_team AND end_user_id = person
        ORDER BY id FOR UPDATE
    );
    gone := ARRAY(SELECT memory_id FROM palimpsest_memories_of_person(asked_team, person));
    PERFORM FROM memory_memory WHERE team_id = asked_team AND id = ANY (gone)
    ORDER BY id FOR UPDATE;
    moment := clock_timestamp();
    INSERT INTO audit_erasure (id, team_id, end_user_id, actor, reason, counts, at)
    VALUES (gen_random_uuid(), asked_team, person, acting, why, counts, moment);

    DELETE FROM memory_messageentry WHERE team_id = asked_team AND conversation_id = ANY (talk);
    PERFORM palimpsest_empty_memories(asked_team, gone, acting, moment);

    -- What was said, and what was made of it.
    UPDATE teams_message SET content = erased, name = '', external_id = NULL
    WHERE team_id = asked_team AND conversation_id = ANY (talk);
    UPDATE memory_compaction SET summary = erased, points = '[]'
    WHERE team_id = asked_team AND conversation_id = ANY (talk);
    UPDATE memory_job SET
        state = 'done', error = '', waiting = '[]', left_out = 0, tags = '{}',
        finished_at = coalesce(finished_at, moment)
    WHERE team_id = asked_team AND conversation_id = ANY (talk);
    UPDATE teams_conversation
    SET thread_id = 'erased-' || id, extracted_position = last_position
    WHERE team_id = asked_team AND id = ANY (talk);
    DELETE FROM teams_checkpoint WHERE team_id = asked_team AND end_user_id = person;

    -- What else may hold a word of it.
    UPDATE audit_operationalevent SET meta = '{}'
    WHERE team_id = asked_team AND meta <> '{}'
        AND (end_user_id = person OR conversation_id = ANY (talk));
    UPDATE django_admin_log SET object_repr = erased, change_message = ''
    WHERE object_id = ANY ((talk || person)::text[]);
    UPDATE teams_enduser SET external_id = 'erased-' || id, display_name = '', profile = '{}'
    WHERE team_id = asked_team AND id = person;

    -- Nothing tells whose an answer kept under an idempotency key is: a prompt names nobody. All of
    -- the team go, and no request that is under way keeps one: it may have read what is gone now.
    LOCK TABLE teams_idempotentrequest IN SHARE ROW EXCLUSIVE MODE;
    UPDATE teams_idempotentrequest SET
        claim = NULL, lease_until = least(lease_until, moment), status = NULL, media_type = '',
        body = '',
        committed_at = CASE WHEN status IS NULL THEN committed_at
            ELSE coalesce(committed_at, moment) END
    WHERE team_id = asked_team;
    RETURN counts;
END
$$;
REVOKE ALL ON FUNCTION palimpsest_erase_user(uuid, uuid, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_erase_user(uuid, uuid, text) TO palimpsest_app;

-- Erases purged memories of a team that chose it (`purge_erases`), those of the ids that still have a
-- text; returns how many. What was said, and what was made of it, stays. No kept answer tells them:
-- nothing has told them since before they expired, and answers are kept for a day.
CREATE FUNCTION palimpsest_erase_purged(asked_team uuid, memories uuid[], why text)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    moment timestamptz;
    gone uuid[];
    acting text := coalesce(current_setting('palimpsest.actor', true), '');
BEGIN
    IF NOT asked_team = ANY (palimpsest_team_ids()) THEN
        RAISE EXCEPTION 'the team is outside the transaction''s scope'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF NOT EXISTS (
        SELECT FROM teams_team
        WHERE id = asked_team AND lifecycle_settings->'purge_erases' = 'true'
    ) THEN
        RAISE EXCEPTION 'the team did not choose that a purge erases'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    gone := ARRAY(
        SELECT id FROM memory_memory
        WHERE team_id = asked_team AND id = ANY (memories) AND status = 'purged'
            AND erased_at IS NULL
        ORDER BY id FOR UPDATE
    );
    IF gone = '{}' THEN
        RETURN 0;
    END IF;
    moment := clock_timestamp();
    INSERT INTO audit_erasure (id, team_id, actor, reason, counts, at)
    VALUES (
        gen_random_uuid(), asked_team, acting, why,
        jsonb_build_object('memories', cardinality(gone)), moment
    );
    PERFORM palimpsest_empty_memories(asked_team, gone, acting, moment);
    RETURN cardinality(gone);
END
$$;
REVOKE ALL ON FUNCTION palimpsest_erase_purged(uuid, uuid[], text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_erase_purged(uuid, uuid[], text) TO palimpsest_app;
