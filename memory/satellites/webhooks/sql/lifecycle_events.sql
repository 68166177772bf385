CREATE FUNCTION palimpsest_announce_consolidation() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM public.palimpsest_announce(
        NEW.team_id, 'consolidation.finished', NEW.id,
        jsonb_build_object(
            'run', NEW.id, 'state', NEW.state, 'dry_run', NEW.is_dry, 'counts', NEW.counts,
            'end_user_id', NEW.end_user_id, 'project_id', NEW.project_id
        )
    );
    RETURN NULL;
END
$$;
CREATE TRIGGER announce_end AFTER UPDATE OF state ON memory_consolidationrun
    FOR EACH ROW WHEN (NEW.state IN ('done', 'failed') AND OLD.state <> NEW.state)
    EXECUTE FUNCTION palimpsest_announce_consolidation();
