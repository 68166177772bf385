-- The teams with memories that wait for their vectors, and how many wait: the one question of the
-- sweep that comes before a team.
CREATE FUNCTION palimpsest_pending_vectors() RETURNS TABLE (team_id uuid, pending bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT e.team_id, count(*) FROM public.memory_searchentry e
    WHERE e.embedding_model = '' GROUP BY e.team_id
$$;
REVOKE ALL ON FUNCTION palimpsest_pending_vectors() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_pending_vectors() TO palimpsest_app;
