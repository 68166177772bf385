-- Where a memory stands for a search; the numbers are those of memory.models.search.Place.
CREATE FUNCTION palimpsest_place(status text, tier text) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (CASE
        WHEN status IN ('active', 'disputed') THEN CASE WHEN tier = 'cold' THEN 1 ELSE 0 END
        WHEN status IN ('soft_deleted', 'purged') THEN 3
        ELSE 2
    END)::smallint
$$;

-- Copies to a new search entry whose memory it is and where it stands, in the index, in time and in
-- its conversation: there its position is that of the first source message, or the next one.
CREATE FUNCTION palimpsest_place_entry() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    sources uuid[];
BEGIN
    SELECT m.memory_type, m.agent_id, m.end_user_id, m.project_id, m.conversation_id,
        m.created_at, m.valid_from, m.valid_to, m.source_message_ids,
        public.palimpsest_place(m.status, m.tier)
    INTO STRICT NEW.memory_type, NEW.agent_id, NEW.end_user_id, NEW.project_id,
        NEW.conversation_id, NEW.said_at, NEW.held_from, NEW.held_until, sources, NEW.place
    FROM public.memory_memory m WHERE m.team_id = NEW.team_id AND m.id = NEW.memory_id;
    IF NEW.conversation_id IS NOT NULL THEN
        SELECT min(t.position) INTO NEW.position FROM public.teams_message t
        WHERE t.team_id = NEW.team_id AND t.id = ANY (sources)
            AND t.conversation_id = NEW.conversation_id;
        IF NEW.position IS NULL THEN
            SELECT coalesce(max(e.position), 0) + 1 INTO NEW.position
            FROM public.memory_searchentry e
            WHERE e.team_id = NEW.team_id AND e.conversation_id = NEW.conversation_id;
        END IF;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER place_entry BEFORE INSERT ON memory_searchentry
    FOR EACH ROW EXECUTE FUNCTION palimpsest_place_entry();

-- And again when the memory moves, which a change of its importance or usage does not.
CREATE FUNCTION palimpsest_move_entry() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE public.memory_searchentry SET
        memory_type = NEW.memory_type,
        agent_id = NEW.agent_id,
        end_user_id = NEW.end_user_id,
        project_id = NEW.project_id,
        held_from = NEW.valid_from,
        held_until = NEW.valid_to,
        place = public.palimpsest_place(NEW.status, NEW.tier),
        graph_dimensions = CASE public.palimpsest_place(NEW.status, NEW.tier)
            WHEN 0 THEN graph_dimensions ELSE 0 END
    WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER move_entry
    AFTER UPDATE OF memory_type, agent_id, end_user_id, project_id, valid_from, valid_to, status, tier
    ON memory_memory
    FOR EACH ROW WHEN (
        (OLD.memory_type, OLD.agent_id, OLD.end_user_id, OLD.project_id, OLD.valid_from,
            OLD.valid_to, palimpsest_place(OLD.status, OLD.tier))
        IS DISTINCT FROM
        (NEW.memory_type, NEW.agent_id, NEW.end_user_id, NEW.project_id, NEW.valid_from,
            NEW.valid_to, palimpsest_place(NEW.status, NEW.tier))
    ) EXECUTE FUNCTION palimpsest_move_entry();

-- The keys under which the index of words has an entry: each word once for its team and once for
-- its team and end user, apart for what is found by default and for what is cold or past. A word
-- is thereby looked up among one owner's memories only, however common it is elsewhere.
CREATE FUNCTION palimpsest_word_prefix(team uuid, owner text, place smallint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT left(md5(team::text || owner), 10) || CASE place WHEN 0 THEN '+' ELSE '-' END
$$;
CREATE FUNCTION palimpsest_word_keys(team uuid, end_user uuid, place smallint, lexemes tsvector)
RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT CASE WHEN place = 3 OR lexemes = ''::tsvector THEN '{}'::text[] ELSE
        string_to_array(
            palimpsest_word_prefix(team, '', place) || replace(
                array_to_string(tsvector_to_array(lexemes), E'\x1f'),
                E'\x1f', E'\x1f' || palimpsest_word_prefix(team, '', place)
            ), E'\x1f')
        || string_to_array(
            palimpsest_word_prefix(team, coalesce(end_user::text, 'nobody'), place) || replace(
                array_to_string(tsvector_to_array(lexemes), E'\x1f'),
                E'\x1f',
                E'\x1f' || palimpsest_word_prefix(team, coalesce(end_user::text, 'nobody'), place)
            ), E'\x1f')
    END
$$;
CREATE INDEX memory_search_by_word ON memory_searchentry
    USING gin (palimpsest_word_keys(team_id, end_user_id, place, lexemes))
    WITH (fastupdate = off);

-- Makes sure that there is the approximate index of that number for vectors of that size. Few teams
-- share a number, so that a search meets few vectors of others. It holds only entries whose
-- graph_dimensions and graph_number say so: it is empty, and soon made, when its first team needs it. Writers wait for the transaction that makes it, and it for them, but not for long:
-- else it fails with 55P03. Runs with the owner's rights, as the application may create nothing.
CREATE FUNCTION palimpsest_ensure_graph(dimensions int, number int) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET lock_timeout = '3s' AS $$
BEGIN
    IF dimensions IS NULL OR dimensions NOT BETWEEN 1 AND 4000 THEN
        RAISE EXCEPTION 'vectors of % dimensions cannot be indexed', dimensions;
    END IF;
    IF number IS NULL OR number NOT BETWEEN 0 AND 63 THEN
        RAISE EXCEPTION 'there is no graph of the number %', number;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('palimpsest_ensure_graph'));
    -- Even with IF NOT EXISTS, to ask for the index locks the table.
    IF to_regclass(format('public.memory_search_graph_%s_%s', dimensions, number)) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format(
        'CREATE INDEX memory_search_graph_%1$s_%2$s ON public.memory_searchentry'
        ' USING hnsw ((embedding::public.halfvec(%1$s)) public.halfvec_ip_ops)'
        ' WITH (m = 16, ef_construction = 64)'
        ' WHERE graph_dimensions = %1$s AND graph_number = %2$s',
        dimensions, number
    );
END
$$;
REVOKE ALL ON FUNCTION palimpsest_ensure_graph(int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_ensure_graph(int, int) TO palimpsest_app;
