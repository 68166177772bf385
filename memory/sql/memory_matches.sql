-- The memories that hold each of the terms: of the whole team where `owners` is {''}, else of the
-- end users named by id and of 'nobody'; at most `most` for each term and owner. A term of several
-- lexemes must be held whole. The lookup runs with the owner's rights, because below a policy
-- PostgreSQL does not use this index; it answers for no team but those of the transaction's scope,
-- and tells whose each memory is, so that the caller can apply the rule of visibility. With an
-- agent or a project, what that rule is going to take away is not counted among the `most`.
CREATE OR REPLACE FUNCTION palimpsest_matches(
    asked_team uuid, owners text[], with_cold boolean, terms text[], most int,
    asked_agent uuid, asked_project uuid
) RETURNS TABLE (
    term int, memory_id uuid, team_id uuid, memory_type varchar, audience varchar, agent_id uuid,
    end_user_id uuid, project_id uuid, conversation_id uuid, place smallint
)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 2000
SET search_path = pg_catalog, public, pg_temp
SET enable_seqscan = off SET enable_indexscan = off SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    IF (asked_team = ANY (palimpsest_team_ids())) IS NOT TRUE THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT wanted.number::int, e.memory_id, e.team_id, e.memory_type, e.audience, e.agent_id,
        e.end_user_id, e.project_id, e.conversation_id, e.place
    FROM (
        SELECT t.number, (
            SELECT array_agg(palimpsest_word_prefix(asked_team, o.owner, p.place) || lexeme)
            FROM unnest(tsvector_to_array(palimpsest_lexemes(t.term))) AS lexeme
        ) AS keys
        FROM unnest(terms) WITH ORDINALITY AS t (term, number)
        CROSS JOIN unnest(owners) AS o (owner)
        CROSS JOIN unnest(CASE WHEN with_cold THEN '{0,1}' ELSE '{0}' END::smallint[]) AS p (place)
    ) AS wanted
    CROSS JOIN LATERAL (
        SELECT s.* FROM memory_searchentry s
        WHERE palimpsest_word_keys(s.team_id, s.end_user_id, s.place, s.lexemes) @> wanted.keys
            -- Not an equality: only the index of words is to answer this.
            AND s.team_id IS NOT DISTINCT FROM asked_team
            AND (asked_agent IS NULL OR s.agent_id = asked_agent OR s.audience <> 'agent')
            AND (asked_project IS NULL OR s.project_id = asked_project OR s.project_id IS NULL)
        LIMIT most
    ) AS e
    WHERE wanted.keys IS NOT NULL;
END
$$;
REVOKE ALL ON FUNCTION palimpsest_matches(uuid, text[], boolean, text[], int, uuid, uuid)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_matches(uuid, text[], boolean, text[], int, uuid, uuid)
    TO palimpsest_app;
