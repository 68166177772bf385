-- Who is erased leaves no digest of a question behind; what was spent and on which model stays.
CREATE FUNCTION palimpsest_forget_queries() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE routing_routingdecision SET query_hash = '', scores = '{}'
    WHERE team_id = NEW.team_id AND end_user_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER forget_queries AFTER UPDATE OF external_id ON teams_enduser
    FOR EACH ROW WHEN (NEW.external_id = 'erased-' || NEW.id)
    EXECUTE FUNCTION palimpsest_forget_queries();
