-- Searches the memories of one viewer: every signal proposes its best, then all signals of every
-- proposed memory are read. Python fills in what stands in braces for each kind of viewer.
--
-- The alias is always memory_searchentry, which the compiled rule of visibility names. Rows of
-- proposed memories are looked up one by one, which OFFSET 0 makes sure of: with plain joins the
-- planner may read the whole team.

-- part: search
{core}, recent AS (
    {recent}
), accessed AS (
    SELECT memory_searchentry.memory_id
    FROM (
        SELECT memory_id FROM memory_memoryusage
        WHERE team_id = %(team)s AND last_accessed_at IS NOT NULL
        ORDER BY last_accessed_at DESC LIMIT {RECENCY_LIMIT}
    ) u
    CROSS JOIN LATERAL (
        SELECT * FROM memory_searchentry e
        WHERE e.team_id = %(team)s AND e.memory_id = u.memory_id OFFSET 0
    ) AS memory_searchentry
    WHERE {condition}
), mandatory AS (
    {mandatory}
), important AS (
    {important}
), continued AS (
    SELECT memory_searchentry.memory_id FROM memory_searchentry
    WHERE memory_searchentry.team_id = %(team)s
        AND memory_searchentry.conversation_id = %(conversation)s::uuid AND {condition}
    ORDER BY memory_searchentry.position DESC LIMIT {CONTINUITY_LIMIT}
), edges AS (
    SELECT r.to_memory_id AS memory_id, r.strength
    FROM core c
    CROSS JOIN LATERAL (
        SELECT * FROM memory_memoryrelation o
        WHERE o.team_id = %(team)s AND o.from_memory_id = c.memory_id OFFSET 0
    ) AS r
    UNION ALL
    SELECT r.from_memory_id, r.strength
    FROM core c
    CROSS JOIN LATERAL (
        SELECT * FROM memory_memoryrelation o
        WHERE o.team_id = %(team)s AND o.to_memory_id = c.memory_id OFFSET 0
    ) AS r
), related AS MATERIALIZED (
    SELECT memory_id, max(strength) AS strength FROM edges
    GROUP BY memory_id ORDER BY 2 DESC, 1 LIMIT {RELATION_LIMIT}
), chosen AS MATERIALIZED (
    SELECT memory_id FROM hits
    UNION SELECT memory_id FROM around
    UNION SELECT memory_id FROM recent
    UNION SELECT memory_id FROM accessed
    UNION SELECT memory_id FROM mandatory
    UNION SELECT memory_id FROM important
    UNION SELECT memory_id FROM continued
    UNION SELECT memory_id FROM related
    UNION SELECT id FROM unnest(%(also)s::uuid[]) AS also (id)
    {given}
    {of_project}
), {held}, proposed AS MATERIALIZED (
    SELECT memory_id, held.terms, related.strength
    FROM chosen LEFT JOIN held USING (memory_id) LEFT JOIN related USING (memory_id)
)
SELECT
    {question},
    m.id, m.memory_type, m.status, m.importance, m.is_pinned,
    extract(epoch FROM coalesce(u.last_accessed_at, m.created_at))::float8,
    memory_searchentry.conversation_id, memory_searchentry.position,
    extract(epoch FROM memory_searchentry.said_at)::float8,
    extract(epoch FROM memory_searchentry.held_from)::float8,
    extract(epoch FROM memory_searchentry.held_until)::float8,
    array_to_string(memory_searchentry.people, ' '), coalesce(proposed.terms, 0),
    {cosine},
    proposed.strength,
    m.end_user_id, m.project_id, m.agent_id, m.content, m.subject, m.category, m.scope,
    nullif(m.tags, '{{}}'), nullif(m.contradicts, '{{}}'),
    m.confidence, coalesce(u.succeeded, 0), coalesce(u.failed, 0), coalesce(u.cited, 0), coalesce(u.ignored, 0),
    m.form, m.source
FROM proposed
CROSS JOIN LATERAL (
    SELECT * FROM memory_searchentry e
    WHERE e.team_id = %(team)s AND e.memory_id = proposed.memory_id OFFSET 0
) AS memory_searchentry
CROSS JOIN LATERAL (
    SELECT * FROM memory_memory o
    WHERE o.team_id = %(team)s AND o.id = proposed.memory_id OFFSET 0
) AS m
LEFT JOIN LATERAL (
    SELECT * FROM memory_memoryusage o
    WHERE o.team_id = %(team)s AND o.memory_id = proposed.memory_id OFFSET 0
) AS u ON TRUE
WHERE {condition}
    AND (cardinality(%(categories)s::text[]) = 0 OR m.category = ANY (%(categories)s::text[]))

-- What holds a word, by the index of words. The rule of visibility holds for nearly all that the
-- index gives; outside a CASE the planner would expect it to leave a single row.
-- part: found_by_index
    SELECT memory_searchentry.term, memory_searchentry.memory_id
    FROM palimpsest_matches(
        %(team)s::uuid, %(owners)s::text[], %(with_cold)s::boolean, %(terms)s::text[],
        %(most)s::int, {agent}::uuid, {project}::uuid
    ) AS memory_searchentry
    WHERE CASE WHEN {visible} AND {placed} THEN TRUE END

-- The same among given memories, each of which is read: of a common word the index gives only some
-- memories, which need not be among them. Each term's query is made once.
-- part: found_among_given
    WITH wanted AS MATERIALIZED (
        SELECT number::int AS term, (
            SELECT string_agg('''' || replace(lexeme, '''', '''''') || '''', ' & ')::tsquery
            FROM unnest(tsvector_to_array(palimpsest_lexemes(t.term))) AS lexeme
        ) AS query
        FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, number)
    )
    SELECT wanted.term, memory_searchentry.memory_id
    FROM wanted
    JOIN memory_searchentry ON memory_searchentry.lexemes @@ wanted.query
    WHERE memory_searchentry.team_id = %(team)s AND {condition}

-- Of given memories as many as are wanted, whatever the signals say of them.
-- part: given
    UNION (SELECT id FROM unnest(%(only)s::uuid[]) AS given (id) LIMIT %(least)s::int)

-- What is most important to the viewer's project, however much the team knows beside it.
-- part: of_project
    UNION (
        SELECT memory_searchentry.id FROM memory_memory AS memory_searchentry
        WHERE memory_searchentry.team_id = %(team)s
            AND memory_searchentry.project_id = {project}::uuid
            AND memory_searchentry.status IN ('active', 'disputed')
            AND memory_searchentry.tier <> 'cold' AND {visible} {only_memory}
        ORDER BY memory_searchentry.importance DESC, memory_searchentry.created_at DESC
        LIMIT {PROJECT_LIMIT}
    )

-- Each of the next three stands once for every owner. Within one owner the first columns of the
-- order are constant; they name the index to a planner that does not know how few rows of a team
-- belong to nobody.
-- part: recent
(
    SELECT memory_searchentry.memory_id FROM memory_searchentry
    WHERE memory_searchentry.team_id = %(team)s AND {owner} AND memory_searchentry.place = 0
        AND {visible} {only}
    ORDER BY {backwards}memory_searchentry.memory_id DESC LIMIT {RECENCY_LIMIT}
)

-- part: mandatory
(
    SELECT memory_searchentry.id AS memory_id FROM memory_memory AS memory_searchentry
    WHERE memory_searchentry.team_id = %(team)s AND {owner}
        AND memory_searchentry.status IN ('active', 'disputed')
        AND memory_searchentry.tier <> 'cold'
        AND (memory_searchentry.is_pinned OR memory_searchentry.memory_type IN ({always}))
        AND {visible} {only_memory}
    LIMIT {MANDATORY_LIMIT}
)

-- part: important
(
    SELECT memory_searchentry.id AS memory_id FROM memory_memory AS memory_searchentry
    WHERE memory_searchentry.team_id = %(team)s AND {owner}
        AND memory_searchentry.status IN ('active', 'disputed')
        AND memory_searchentry.tier <> 'cold'
        AND memory_searchentry.importance >= {IMPORTANT_FROM} AND {visible} {only_memory}
    ORDER BY {forwards}memory_searchentry.importance DESC, memory_searchentry.id DESC
    LIMIT {IMPORTANCE_LIMIT}
)
