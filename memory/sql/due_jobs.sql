-- Which teams have due jobs of which kind, those under way among them, whose worker may have died.
-- Workers and the sweep ask before they know for which team to work; it tells times and nothing of
-- what the jobs are about.
CREATE FUNCTION palimpsest_due_jobs() RETURNS TABLE (
    team_id uuid, kind text, waits_for interval
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT j.team_id, j.kind,
        clock_timestamp() - min(j.due_at) FILTER (WHERE j.state = 'queued')
    FROM public.memory_job j
    WHERE (j.state IN ('queued', 'running') OR (j.state = 'done' AND j.left_out > 0))
        AND j.due_at <= clock_timestamp()
    GROUP BY j.team_id, j.kind
$$;
REVOKE ALL ON FUNCTION palimpsest_due_jobs() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_due_jobs() TO palimpsest_app;
