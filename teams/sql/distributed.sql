-- As in audit/sql/distributed.sql: with the teams as a value, the question goes to theirs alone.
CREATE OR REPLACE FUNCTION palimpsest_hold_if_frozen() RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    teams uuid[] := public.palimpsest_team_ids();
BEGIN
    IF EXISTS (
        SELECT 1 FROM public.teams_team t WHERE t.id = ANY (teams) AND t.frozen_at IS NOT NULL
    ) THEN
        PERFORM set_config('transaction_read_only', 'on', true);
    END IF;
END
$$;
