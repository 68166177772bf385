-- Has the planner look at a table that searches read, or that each write is checked against, where
-- at least so many of its rows were changed since it looked last, and such a share of them.
-- PostgreSQL's own daemon looks once a minute, and until then plans as if a table were empty that
-- has just been filled: reads then take ten times as long. Says whether it was done; a table that
-- something else works on waits for the next time. Runs with the owner's rights, as the application
-- may not analyse.
CREATE FUNCTION palimpsest_renew_statistics(
    asked text, least_changed bigint, least_share float8
) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET lock_timeout = '3s' AS $$
BEGIN
    IF asked NOT IN ('memory_memory', 'memory_searchentry', 'memory_messageentry',
            'memory_memoryusage', 'memory_memoryrelation', 'teams_message', 'teams_enduser',
            'teams_conversation', 'audit_logcommit') THEN
        RAISE EXCEPTION '% is not a table whose statistics are renewed', asked;
    END IF;
    PERFORM FROM pg_class c
    WHERE c.oid = format('public.%I', asked)::regclass
        AND pg_stat_get_mod_since_analyze(c.oid)
            >= greatest(least_changed, least_share * c.reltuples);
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    EXECUTE format('ANALYZE public.%I', asked);
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END
$$;
REVOKE ALL ON FUNCTION palimpsest_renew_statistics(text, bigint, float8) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_renew_statistics(text, bigint, float8) TO palimpsest_app;
