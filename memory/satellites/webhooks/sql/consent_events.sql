CREATE FUNCTION palimpsest_announce_consent() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM public.palimpsest_announce(
        NEW.team_id, 'consent.requested', NEW.id,
        jsonb_build_object(
            'consent_request', NEW.id, 'kind', NEW.kind, 'memory', NEW.memory_id,
            'expires_at', NEW.expires_at, 'agent_id', NEW.agent_id, 'end_user_id', NEW.end_user_id
        )
    );
    RETURN NULL;
END
$$;
CREATE TRIGGER announce_request AFTER INSERT ON memory_consentrequest
    FOR EACH ROW WHEN (NEW.needs_person AND NEW.state = 'waiting')
    EXECUTE FUNCTION palimpsest_announce_consent();
CREATE TRIGGER announce_need AFTER UPDATE OF needs_person ON memory_consentrequest
    FOR EACH ROW WHEN (NEW.needs_person AND NOT OLD.needs_person AND NEW.state = 'waiting')
    EXECUTE FUNCTION palimpsest_announce_consent();
