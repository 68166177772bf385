-- What makes the log tamper-evident: salts, numbers in a known order, and the leaves of its seals.

-- Stands beside the text and goes with it: without it no digest of the text can be tried out. The
-- application writes neither column; a row that is copied brings its own salt.
ALTER TABLE memory_memory
    ADD COLUMN salt bytea DEFAULT uuid_send(gen_random_uuid()),
    ADD COLUMN erased_at timestamptz,
    ADD CONSTRAINT memory_salt_until_erased CHECK ((salt IS NULL) = (erased_at IS NOT NULL));

-- What the log keeps of a memory: everything but its text, the text's salt and the times of changes.
CREATE OR REPLACE FUNCTION palimpsest_memory_state(memory jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
    SELECT memory - ARRAY['content', 'updated_at', 'salt', 'erased_at']
$$;

-- What of a state tells something of a person; the rest is order, ids and figures.
CREATE FUNCTION palimpsest_private_keys() RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ARRAY['subject', 'category', 'tags', 'payload', 'external_id', 'source_external_ids',
        'dedupe_key', 'valid_from', 'valid_to']
$$;

-- What stands in place of a text that was erased.
CREATE FUNCTION palimpsest_erased_text() RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT '[erased]' $$;

-- A state without what tells of a person, saying since when.
CREATE FUNCTION palimpsest_erased_state(state jsonb, erased_at jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT state || jsonb_build_object(
        'subject', '', 'category', '', 'tags', '[]'::jsonb, 'payload', '{}'::jsonb,
        'external_id', NULL, 'source_external_ids', '[]'::jsonb, 'dedupe_key', NULL,
        'valid_from', NULL, 'valid_to', NULL, 'erased_at', erased_at
    )
$$;

CREATE FUNCTION palimpsest_text_digest(salt bytea, content text) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT sha256(salt || convert_to(content, 'UTF8'))
$$;

-- Gives every log row its number and its digest, whoever inserts it and whatever it came with. The
-- number is drawn after the transaction has its own, so that a seal which waits for all
-- transactions of before misses no row (audit/services/seals.py).
CREATE FUNCTION palimpsest_enter_log() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    memory record;
BEGIN
    PERFORM pg_current_xact_id();
    NEW.seq := nextval('public.audit_memorylog_seq_seq');
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
CREATE TRIGGER enter_log BEFORE INSERT ON audit_memorylog
    FOR EACH ROW EXECUTE FUNCTION palimpsest_enter_log();

-- The last number drawn, of all teams together.
CREATE FUNCTION palimpsest_last_log_number() RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
    SELECT last_value FROM public.audit_memorylog_seq_seq
$$;
REVOKE ALL ON FUNCTION palimpsest_last_log_number() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_last_log_number() TO palimpsest_app;

-- Rows from before the salts.
ALTER TABLE audit_memorylog DISABLE TRIGGER append_only;
UPDATE audit_memorylog l SET digest = palimpsest_text_digest(m.salt, m.content)
FROM memory_memory m WHERE m.team_id = l.team_id AND m.id = l.memory_id;
ALTER TABLE audit_memorylog ENABLE TRIGGER append_only;
