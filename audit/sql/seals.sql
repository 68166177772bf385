-- What makes the log tamper-evident: salts, numbers in a known order, and the leaves of its seals.

-- Stands beside the text and goes with it: without it no digest of the text can be tried out. The
-- application writes neither column; a row that is copied brings its own salt.
ALTER TABLE memory_memory
    ADD COLUMN salt bytea DEFAULT uuid_send(gen_random_uuid()),
    ADD COLUMN erased_at timestamptz,
    ADD CONSTRAINT memory_salt_until_erased CHECK ((salt IS NULL) = (erased_at IS NOT NULL));

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

CREATE TRIGGER enter_log BEFORE INSERT ON audit_memorylog
    FOR EACH ROW EXECUTE FUNCTION palimpsest_enter_log();

-- The last number drawn, of all teams together.
CREATE FUNCTION palimpsest_last_log_number() RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT last_value FROM public.audit_memorylog_seq_seq
$$;
REVOKE ALL ON FUNCTION palimpsest_last_log_number() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_last_log_number() TO palimpsest_app;
