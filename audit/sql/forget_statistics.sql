-- What the planner keeps of a column are some of its values, until the table is looked at again: of
-- rows that an erasure emptied or removed as well. Not part of the erasure, as it may take seconds,
-- in which nobody should wait for what that holds. The last table is one that an erasure locks.
CREATE FUNCTION palimpsest_forget_statistics() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET lock_timeout = 0 AS $$
DECLARE
    tables text;
BEGIN
    SELECT string_agg(c.oid::regclass::text, ', ' ORDER BY c.relname = 'teams_idempotentrequest', c.relname)
    INTO tables
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
        AND NOT c.relispartition
        AND (c.relname = 'django_admin_log' OR EXISTS (
            SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'team_id'
        ));
    EXECUTE 'ANALYZE ' || tables;
END
$$;
REVOKE ALL ON FUNCTION palimpsest_forget_statistics() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_forget_statistics() TO palimpsest_app;
