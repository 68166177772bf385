-- As in teams/sql/parts_of_tables.sql: in a database that Citus distributes, triggers run on parts of
-- a table, whose names go on with `_` and a number.
CREATE OR REPLACE FUNCTION palimpsest_refuse_but_erasure() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    emptied jsonb;
BEGIN
    IF TG_OP = 'UPDATE' AND public.palimpsest_is_erasing() THEN
        IF TG_TABLE_NAME ~ '^teams_message(_|$)' THEN
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

-- The rule of the team on a part of the events is that of the whole, whatever it is there: Citus
-- takes no subquery.
CREATE OR REPLACE FUNCTION palimpsest_guard_events(part regclass) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    rule text;
BEGIN
    SELECT qual INTO STRICT rule FROM pg_policies
    WHERE schemaname = 'public' AND tablename = 'audit_operationalevent';
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', part);
    EXECUTE format('CREATE POLICY team_rows ON %s USING (%s) WITH CHECK (%s)', part, rule, rule);
    EXECUTE format('REVOKE ALL ON %s FROM palimpsest_app', part);
END
$$;
