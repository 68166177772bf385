-- A team that has an admin keeps one, whoever takes it away and how. It runs with the owner's
-- rights, who sees every team. The lock makes two at once take turns; it stops no other write.
CREATE FUNCTION palimpsest_check_admins(checked uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM public.teams_team t WHERE t.id = checked FOR NO KEY UPDATE;
    IF NOT EXISTS (
        SELECT FROM public.teams_membership m
        JOIN public.teams_staffuser s ON s.id = m.user_id
        WHERE m.team_id = checked AND m.role = 'admin' AND s.is_active AND s.is_staff
    ) THEN
        RAISE EXCEPTION 'a team keeps an admin: name another one first'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'team_keeps_an_admin';
    END IF;
END
$$;
REVOKE ALL ON FUNCTION palimpsest_check_admins(uuid) FROM PUBLIC;

CREATE FUNCTION palimpsest_keep_an_admin() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    -- One who could not sign in any more was no admin.
    IF EXISTS (
        SELECT FROM public.teams_staffuser s
        WHERE s.id = OLD.user_id AND s.is_active AND s.is_staff
    ) THEN
        PERFORM public.palimpsest_check_admins(OLD.team_id);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER keep_an_admin AFTER DELETE ON teams_membership
    FOR EACH ROW WHEN (OLD.role = 'admin') EXECUTE FUNCTION palimpsest_keep_an_admin();
CREATE TRIGGER keep_an_admin_on_change AFTER UPDATE ON teams_membership
    FOR EACH ROW WHEN (
        OLD.role = 'admin'
        AND (NEW.role, NEW.team_id, NEW.user_id)
            IS DISTINCT FROM (OLD.role, OLD.team_id, OLD.user_id)
    )
    EXECUTE FUNCTION palimpsest_keep_an_admin();

CREATE FUNCTION palimpsest_keep_an_admins_login() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM public.palimpsest_check_admins(m.team_id)
    FROM public.teams_membership m
    WHERE m.user_id = NEW.id AND m.role = 'admin'
    ORDER BY m.team_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER keep_an_admin AFTER UPDATE OF is_active, is_staff ON teams_staffuser
    FOR EACH ROW WHEN (
        OLD.is_active AND OLD.is_staff AND NOT (NEW.is_active AND NEW.is_staff)
    )
    EXECUTE FUNCTION palimpsest_keep_an_admins_login();
