-- Operational events by day, so that old ones go by dropping a table. No event refers to another
-- row, the team's included (teams are never removed): dropping a day then waits for nobody else.
ALTER TABLE audit_operationalevent RENAME TO audit_operationalevent_whole;
CREATE TABLE audit_operationalevent (LIKE audit_operationalevent_whole) PARTITION BY RANGE (at);

-- What no day's table takes is kept here, so that an event is never refused.
CREATE TABLE audit_operationalevent_other PARTITION OF audit_operationalevent DEFAULT;
DROP TABLE audit_operationalevent_whole;

ALTER TABLE audit_operationalevent ADD PRIMARY KEY (team_id, id, at);
CREATE INDEX event_by_time ON audit_operationalevent (team_id, at DESC);
CREATE INDEX event_by_op ON audit_operationalevent (team_id, op, at DESC);

-- The same rule of the team on a part as on the whole, whoever asks it directly.
CREATE FUNCTION palimpsest_guard_events(part regclass) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', part);
    EXECUTE format(
        'CREATE POLICY team_rows ON %s'
        ' USING (team_id = ANY ((SELECT public.palimpsest_team_ids())::uuid[]))'
        ' WITH CHECK (team_id = ANY ((SELECT public.palimpsest_team_ids())::uuid[]))', part
    );
    EXECUTE format('REVOKE ALL ON %s FROM palimpsest_app', part);
END
$$;
REVOKE ALL ON FUNCTION palimpsest_guard_events(regclass) FROM PUBLIC;
SELECT palimpsest_guard_events('audit_operationalevent');
SELECT palimpsest_guard_events('audit_operationalevent_other');
GRANT SELECT, INSERT ON audit_operationalevent TO palimpsest_app;

-- Makes the tables of the days from `first` to `last`, as far as they are missing; returns how many
-- it made. Days are UTC. Runs with the owner's rights, as the application may not create anything.
CREATE FUNCTION palimpsest_make_event_days(first date, last date) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    day date := first;
    made int := 0;
    part text;
    begins text;
    ends text;
BEGIN
    IF last - first > 400 THEN
        RAISE EXCEPTION 'at most 400 days at a time';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('palimpsest-event-days', 0));
    WHILE day <= last LOOP
        part := 'audit_operationalevent_' || to_char(day, 'YYYYMMDD');
        IF to_regclass('public.' || part) IS NULL THEN
            begins := to_char(day, 'YYYY-MM-DD') || ' 00:00:00+00';
            ends := to_char(day + 1, 'YYYY-MM-DD') || ' 00:00:00+00';
            EXECUTE format(
                'CREATE TABLE public.%I (LIKE public.audit_operationalevent INCLUDING ALL)', part
            );
            PERFORM public.palimpsest_guard_events(('public.' || part)::regclass);
            -- Events that came before their day's table did.
            EXECUTE format(
                'WITH moved AS (DELETE FROM public.audit_operationalevent_other'
                ' WHERE at >= %L AND at < %L RETURNING *)'
                ' INSERT INTO public.%I SELECT * FROM moved', begins, ends, part
            );
            EXECUTE format(
                'ALTER TABLE public.audit_operationalevent ATTACH PARTITION public.%I'
                ' FOR VALUES FROM (%L) TO (%L)', part, begins, ends
            );
            made := made + 1;
        END IF;
        day := day + 1;
    END LOOP;
    RETURN made;
END
$$;

-- Drops the tables of the days before `first_kept`; returns how many.
CREATE FUNCTION palimpsest_drop_event_days(first_kept date) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    part text;
    dropped int := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('palimpsest-event-days', 0));
    FOR part IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'public.audit_operationalevent'::regclass
            AND c.relname ~ '^audit_operationalevent_[0-9]{8}$'
            AND to_date(right(c.relname, 8), 'YYYYMMDD') < first_kept
        ORDER BY c.relname
    LOOP
        EXECUTE format('DROP TABLE public.%I', part);
        dropped := dropped + 1;
    END LOOP;
    DELETE FROM public.audit_operationalevent_other
    WHERE at < (first_kept::timestamp AT TIME ZONE 'UTC');
    RETURN dropped;
END
$$;
REVOKE ALL ON FUNCTION palimpsest_make_event_days(date, date),
    palimpsest_drop_event_days(date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_make_event_days(date, date),
    palimpsest_drop_event_days(date) TO palimpsest_app;

SELECT palimpsest_make_event_days(
    (now() AT TIME ZONE 'UTC')::date - 1, (now() AT TIME ZONE 'UTC')::date + 7
);
