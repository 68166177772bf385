-- The messages that hold each of the terms, as palimpsest_matches finds memories: narrowed to the
-- agent and the project before they are cut off at `most`, or messages of other agents would use it
-- up. With `with_others`, messages that other agents may find are included: name one owner then.
CREATE OR REPLACE FUNCTION palimpsest_message_matches(
    asked_team uuid, owners text[], terms text[], most int, asked_agent uuid, asked_project uuid,
    with_others boolean
) RETURNS TABLE (
    term int, message_id uuid, team_id uuid, agent_id uuid, end_user_id uuid, project_id uuid,
    audience varchar
)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 300
SET search_path = pg_catalog, public, pg_temp
SET enable_seqscan = off SET enable_indexscan = off SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    IF (asked_team = ANY (palimpsest_team_ids())) IS NOT TRUE THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT wanted.number::int, e.message_id, e.team_id, e.agent_id, e.end_user_id, e.project_id,
        e.audience
    FROM (
        SELECT t.number, (
            SELECT array_agg(palimpsest_word_prefix(asked_team, o.owner, 0::smallint) || lexeme)
            FROM unnest(tsvector_to_array(palimpsest_lexemes(t.term))) AS lexeme
        ) AS keys
        FROM unnest(terms) WITH ORDINALITY AS t (term, number)
        CROSS JOIN unnest(owners) AS o (owner)
    ) AS wanted
    CROSS JOIN LATERAL (
        SELECT s.* FROM memory_messageentry s
        WHERE palimpsest_word_keys(
                s.team_id, CASE WHEN s.audience = 'team' THEN NULL ELSE s.end_user_id END,
                (CASE WHEN s.is_forgotten THEN 3 ELSE 0 END)::smallint, s.lexemes
            ) @> wanted.keys
            -- Not an equality: only the index of words is to answer this.
            AND s.team_id IS NOT DISTINCT FROM asked_team
            AND (asked_agent IS NULL OR s.agent_id = asked_agent
                OR with_others AND s.audience IN ('person', 'team'))
            AND (asked_project IS NULL OR s.project_id = asked_project OR s.project_id IS NULL)
        LIMIT most
    ) AS e
    WHERE wanted.keys IS NOT NULL;
END
$$;
REVOKE ALL ON FUNCTION
    palimpsest_message_matches(uuid, text[], text[], int, uuid, uuid, boolean)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    palimpsest_message_matches(uuid, text[], text[], int, uuid, uuid, boolean)
    TO palimpsest_app;
