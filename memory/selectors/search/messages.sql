-- Searches the messages that one viewer may see, as memories.sql does with memories. Python fills in
-- what stands in braces for each kind of viewer.

-- part: search
WITH asked AS MATERIALIZED (
    SELECT %(vector)s::float4[]::halfvec AS vector
), found AS MATERIALIZED (
    SELECT memory_messageentry.term, memory_messageentry.message_id
    FROM palimpsest_message_matches(
        %(team)s::uuid, %(owners)s::text[], %(terms)s::text[], %(most)s::int,
        %(agent)s::uuid, %(project)s::uuid
    ) AS memory_messageentry
    WHERE CASE WHEN {visible} THEN TRUE END
), counts AS MATERIALIZED (
    SELECT term, count(*) AS seen FROM found GROUP BY term
), rarities AS MATERIALIZED (
    SELECT term, seen, ln(1 + greatest(%(total)s::float8 - seen + 0.5, 0.5) / (seen + 0.5)) AS idf
    FROM counts
    WHERE seen < %(most)s::int OR NOT EXISTS (
        SELECT FROM counts WHERE seen > 0 AND seen < %(most)s::int
    )
), lexical AS MATERIALIZED (
    SELECT f.message_id, sum(r.idf) AS weight
    FROM found f JOIN rarities r USING (term) GROUP BY f.message_id
), near AS MATERIALIZED (
    {near}
), worded AS MATERIALIZED (
    SELECT message_id, weight / nullif((SELECT sum(idf) FROM rarities), 0) AS share FROM lexical
    ORDER BY weight DESC, message_id LIMIT {LEXICAL_LIMIT}
), hits AS MATERIALIZED (
    SELECT message_id, coalesce(w.share, 0) + coalesce(n.cosine, 0) AS promise
    FROM near n FULL JOIN worded w USING (message_id)
), core AS MATERIALIZED (
    SELECT message_id FROM hits ORDER BY promise DESC, message_id LIMIT {CORE_LIMIT}
), around AS (
    SELECT n.message_id
    FROM core c
    CROSS JOIN LATERAL (
        SELECT * FROM memory_messageentry o
        WHERE o.team_id = %(team)s AND o.message_id = c.message_id OFFSET 0
    ) AS e
    CROSS JOIN LATERAL (
        SELECT memory_messageentry.message_id FROM (
            SELECT * FROM memory_messageentry o
            WHERE o.team_id = %(team)s AND o.conversation_id = e.conversation_id
                AND o.position BETWEEN e.position - {REACH} AND e.position + {REACH}
            OFFSET 0
        ) AS memory_messageentry
        WHERE {visible} LIMIT {NEIGHBOURS_LIMIT}
    ) n
), chosen AS MATERIALIZED (
    SELECT message_id FROM hits UNION SELECT message_id FROM around
), held AS MATERIALIZED (
    SELECT f.message_id, bit_or(1::bigint << (f.term - 1)) AS terms
    FROM found f JOIN chosen USING (message_id)
    WHERE f.term IN (SELECT term FROM rarities) GROUP BY f.message_id
), proposed AS MATERIALIZED (
    SELECT message_id, held.terms FROM chosen LEFT JOIN held USING (message_id)
)
SELECT
    CASE WHEN row_number() OVER () = 1 THEN (SELECT array_agg(term) FROM rarities) END,
    CASE WHEN row_number() OVER () = 1 THEN (SELECT array_agg(seen) FROM rarities) END,
    CASE WHEN row_number() OVER () = 1 THEN (SELECT array_agg(term) FROM counts) END,
    CASE WHEN row_number() OVER () = 1 THEN (
        SELECT array_agg(number) FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, number)
        WHERE length(to_tsvector('english', term)) = 0
    ) END,
    memory_messageentry.message_id, memory_messageentry.conversation_id,
    memory_messageentry.position, memory_messageentry.role, memory_messageentry.said_at,
    extract(epoch FROM memory_messageentry.said_at)::float8,
    array_to_string(memory_messageentry.people, ' '), coalesce(proposed.terms, 0),
    -((CASE %(model)s::text
        WHEN memory_messageentry.embedding_model THEN memory_messageentry.embedding
        WHEN memory_messageentry.next_model THEN memory_messageentry.next_embedding
    END) <#> (SELECT vector FROM asked))
FROM proposed
CROSS JOIN LATERAL (
    SELECT * FROM memory_messageentry e
    WHERE e.team_id = %(team)s AND e.message_id = proposed.message_id OFFSET 0
) AS memory_messageentry
WHERE {visible} AND NOT memory_messageentry.is_waiting AND NOT memory_messageentry.is_forgotten
    AND memory_messageentry.lexemes <> ''::tsvector

-- Stands once for every owner.
-- part: compared
    SELECT message_id, -((CASE embedding_model WHEN %(model)s THEN embedding ELSE next_embedding
        END) <#> (SELECT vector FROM asked)) AS cosine
    FROM memory_messageentry
    WHERE memory_messageentry.team_id = %(team)s AND {owner} AND {visible} AND NOT is_forgotten
        AND embedding IS NOT NULL AND (embedding_model = %(model)s OR next_model = %(model)s)

-- part: near
    SELECT * FROM ({compared}) AS compared ORDER BY cosine DESC LIMIT {NEAR_LIMIT}

-- part: near_nothing
    SELECT NULL::uuid AS message_id, NULL::float8 AS cosine WHERE FALSE

-- part: count
SELECT count(*) FROM (
    SELECT FROM memory_messageentry WHERE team_id = %(team)s AND {visible} LIMIT %(counted)s
) AS counted

-- The viewer's among the latest messages of the team that are not indexed yet.
-- part: waiting
SELECT message_id, conversation_id, position, role, said_at, extract(epoch FROM said_at)::float8
FROM (
    SELECT * FROM memory_messageentry e WHERE e.team_id = %(team)s AND e.is_waiting
    ORDER BY e.message_id DESC LIMIT {LOOKED_AT}
) AS memory_messageentry
WHERE {visible} AND NOT is_forgotten
LIMIT %(most)s

-- Where more wait than are read, as after a post of hundreds: those with most words of the question.
-- part: waiting_by_words
WITH wanted AS MATERIALIZED (
    SELECT tsvector_to_array(to_tsvector('english', term)) AS lexemes
    FROM unnest(%(terms)s::text[]) AS t (term)
)
SELECT message_id, conversation_id, position, role, said_at, extract(epoch FROM said_at)::float8
FROM (
    SELECT * FROM memory_messageentry e WHERE e.team_id = %(team)s AND e.is_waiting
    ORDER BY e.message_id DESC LIMIT {LOOKED_AT}
) AS memory_messageentry
CROSS JOIN LATERAL (
    SELECT tsvector_to_array(to_tsvector('english', left(m.content, {READ_CHARS}))) AS lexemes
    FROM teams_message m
    WHERE m.team_id = %(team)s AND m.id = memory_messageentry.message_id OFFSET 0
) AS said
WHERE {visible} AND NOT is_forgotten
ORDER BY (
    SELECT count(*) FROM wanted
    WHERE cardinality(wanted.lexemes) > 0 AND said.lexemes @> wanted.lexemes
) DESC, message_id DESC
LIMIT %(most)s

-- Which of the terms each text holds, as the index of words would say it.
-- part: terms_in_texts
SELECT given.id, bit_or(1::bigint << (wanted.number - 1)::int)
FROM unnest(%(ids)s::uuid[], %(texts)s::text[]) AS given (id, text)
CROSS JOIN LATERAL (
    SELECT tsvector_to_array(to_tsvector('english', given.text)) AS lexemes OFFSET 0
) AS said
JOIN (
    SELECT t.number, tsvector_to_array(to_tsvector('english', t.term)) AS lexemes
    FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, number)
) AS wanted ON cardinality(wanted.lexemes) > 0 AND said.lexemes @> wanted.lexemes
GROUP BY given.id
