-- Gives every log row its number and its digests, whoever inserts it and whatever it came with. The
-- number is drawn after the transaction has its own, so that a seal which waits for all
-- transactions of before misses no row (audit/services/seals.py). A reason has a salt of its own:
-- where it tells of a person, it can go with that salt, and the rest of the row stays sealed.
CREATE FUNCTION palimpsest_enter_log() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    memory record;
BEGIN
    PERFORM pg_current_xact_id();
    NEW.seq := nextval('public.audit_memorylog_seq_seq');
    NEW.reason_salt := CASE WHEN NEW.reason <> '' THEN uuid_send(gen_random_uuid()) END;
    NEW.reason_digest := public.palimpsest_text_digest(NEW.reason_salt, NEW.reason);
    SELECT salt, content, erased_at INTO memory FROM public.memory_memory
    WHERE team_id = NEW.team_id AND id = NEW.memory_id;
    IF NOT FOUND THEN
        RETURN NEW;
    END IF;
    IF memory.erased_at IS NULL THEN
        NEW.digest := public.palimpsest_text_digest(memory.salt, memory.content);
    ELSE
        -- Nothing of it changes after its erasure, but links may come and go.
        IF NEW.event NOT IN ('linked', 'unlinked') THEN
            NEW.event := 'erased';
        END IF;
        NEW.digest := ''::bytea;
        NEW.state := NEW.state || jsonb_build_object('erased_at', memory.erased_at);
    END IF;
    RETURN NEW;
END
$$;
