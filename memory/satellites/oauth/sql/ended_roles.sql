-- A grant ends for good when its login loses the role that it was given in, so that no token works
-- again when the role comes back. It runs with the owner's rights: a login is of several teams.
CREATE FUNCTION palimpsest_end_grants() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    login bigint;
BEGIN
    IF TG_TABLE_NAME = 'teams_membership' THEN
        login := OLD.user_id;
    ELSE
        login := OLD.id;
    END IF;
    WITH ended AS (
        UPDATE public.oauth_grant g SET revoked_at = clock_timestamp()
        FROM public.teams_staffuser s
        WHERE g.user_id = login AND g.revoked_at IS NULL AND s.id = login AND NOT (
            s.is_active AND s.is_staff AND (s.is_superuser OR EXISTS (
                SELECT FROM public.teams_membership m
                WHERE m.team_id = g.team_id AND m.user_id = login AND m.role = 'admin'
            ))
        )
        RETURNING g.*, s.username
    )
    INSERT INTO public.audit_operationalevent
        (id, team_id, node, op, status, end_user_id, meta, at)
    SELECT gen_random_uuid(), e.team_id, 'oauth', 'revoke', 'ok', e.end_user_id,
        jsonb_build_object(
            'grant', e.id, 'client', e.client_id, 'agent', e.agent_id, 'login', e.username,
            'is_read_only', e.is_read_only, 'cause', 'role'
        ),
        e.revoked_at
    FROM ended e;
    RETURN NULL;
END
$$;
CREATE TRIGGER end_grants AFTER DELETE ON teams_membership
    FOR EACH ROW WHEN (OLD.role = 'admin') EXECUTE FUNCTION palimpsest_end_grants();
CREATE TRIGGER end_grants_on_change AFTER UPDATE OF role, team_id, user_id ON teams_membership
    FOR EACH ROW WHEN (OLD.role = 'admin') EXECUTE FUNCTION palimpsest_end_grants();
CREATE TRIGGER end_grants AFTER UPDATE OF is_active, is_staff, is_superuser ON teams_staffuser
    FOR EACH ROW WHEN (
        (OLD.is_active, OLD.is_staff, OLD.is_superuser)
            IS DISTINCT FROM (NEW.is_active, NEW.is_staff, NEW.is_superuser)
    )
    EXECUTE FUNCTION palimpsest_end_grants();

-- Grants whose role ended before.
UPDATE oauth_grant g SET revoked_at = now()
FROM teams_staffuser s
WHERE g.revoked_at IS NULL AND s.id = g.user_id AND NOT (
    s.is_active AND s.is_staff AND (s.is_superuser OR EXISTS (
        SELECT FROM teams_membership m
        WHERE m.team_id = g.team_id AND m.user_id = s.id AND m.role = 'admin'
    ))
);
