-- An erased memory takes along every request that holds its text: those that it is a part of, that
-- propose it or were written as it, and those about a preference of the team in its place.
CREATE OR REPLACE FUNCTION palimpsest_forget_consent_of_memory() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    DELETE FROM public.memory_consentrequest
    WHERE team_id = NEW.team_id AND (
        kind = 'team_fact' AND draft->'parts' ? NEW.id::text
        OR memory_id = NEW.id
        OR present_id = NEW.id AND end_user_id IS NULL
    );
    RETURN NULL;
END
$$;
DELETE FROM memory_consentrequest r USING memory_memory m
WHERE m.team_id = r.team_id AND m.erased_at IS NOT NULL AND (
    r.memory_id = m.id OR r.present_id = m.id AND r.end_user_id IS NULL
);
