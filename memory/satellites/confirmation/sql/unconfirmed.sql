-- Each unconfirmed memory waits for a person's decision from its first moment.
CREATE FUNCTION palimpsest_await_confirmation() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.confirmation_confirmation (id, team_id, memory_id, created_at)
    VALUES (gen_random_uuid(), NEW.team_id, NEW.id, NEW.created_at)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER await_confirmation AFTER INSERT ON memory_memory
    FOR EACH ROW WHEN (NEW.source IN ('tool', 'web'))
    EXECUTE FUNCTION palimpsest_await_confirmation();
