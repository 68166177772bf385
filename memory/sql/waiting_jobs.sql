-- Which teams have jobs that wait, or are done but for what the caps kept out, unless that rests
-- until the next day: asked by workers before they know for which team to work. It tells numbers and
-- times, and nothing of what the jobs are about.
CREATE OR REPLACE FUNCTION palimpsest_waiting_jobs() RETURNS TABLE (
    team_id uuid, queued bigint, running bigint, waits_for interval
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT j.team_id,
        count(*) FILTER (WHERE j.state = 'queued'),
        count(*) FILTER (WHERE j.state = 'running'),
        clock_timestamp() - min(
            CASE WHEN j.state = 'queued' THEN j.queued_at
                -- Its worker is gone.
                WHEN j.lease_until < clock_timestamp() THEN j.lease_until END
        )
    FROM public.memory_job j
    WHERE j.state IN ('queued', 'running') OR (
        j.state = 'done' AND j.left_out > 0 AND coalesce(j.lease_until < clock_timestamp(), true)
    )
    GROUP BY j.team_id
$$;
REVOKE ALL ON FUNCTION palimpsest_waiting_jobs() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_waiting_jobs() TO palimpsest_app;
