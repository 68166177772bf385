-- Searches the messages that one viewer may see, as memories.sql does with memories. Python fills in
-- what stands in braces for each kind of viewer.

-- part: search
{core}, chosen AS MATERIALIZED (
    SELECT message_id FROM hits UNION SELECT message_id FROM around
), {held}, proposed AS MATERIALIZED (
    SELECT message_id, held.terms FROM chosen LEFT JOIN held USING (message_id)
)
SELECT
    {question},
    memory_messageentry.message_id, memory_messageentry.conversation_id,
    memory_messageentry.position, memory_messageentry.role, memory_messageentry.said_at,
    extract(epoch FROM memory_messageentry.said_at)::float8,
    array_to_string(memory_messageentry.people, ' '), coalesce(proposed.terms, 0),
    {cosine},
    greatest(0, length(memory_messageentry.lexemes) - cardinality(memory_messageentry.people)),
    coalesce(memory_messageentry.audience = 'agent', FALSE) AND NOT coalesce((
        SELECT keeps_to_itself FROM teams_agent o WHERE o.team_id = %(team)s AND o.id = %(agent)s
    ), FALSE)
FROM proposed
CROSS JOIN LATERAL (
    SELECT * FROM memory_messageentry e
    WHERE e.team_id = %(team)s AND e.message_id = proposed.message_id OFFSET 0
) AS memory_messageentry
WHERE {visible} AND NOT memory_messageentry.is_waiting AND NOT memory_messageentry.is_forgotten
    AND memory_messageentry.lexemes <> ''::tsvector

-- part: found
    SELECT memory_messageentry.term, memory_messageentry.message_id
    FROM palimpsest_message_matches(
        %(team)s::uuid, %(owners)s::text[], %(terms)s::text[], %(most)s::int,
        %(agent)s::uuid, %(project)s::uuid, %(with_others)s::boolean
    ) AS memory_messageentry
    WHERE CASE WHEN {visible} THEN TRUE END

-- Stands once for every owner.
-- part: compared
    SELECT message_id, -((CASE embedding_model WHEN %(model)s THEN embedding ELSE next_embedding
        END) <#> (SELECT vector FROM asked)) AS cosine
    FROM memory_messageentry
    WHERE memory_messageentry.team_id = %(team)s AND {owner} AND {visible} AND NOT is_forgotten
        AND embedding IS NOT NULL AND (embedding_model = %(model)s OR next_model = %(model)s)

-- part: near
    SELECT * FROM ({compared}) AS compared ORDER BY cosine DESC LIMIT {NEAR_LIMIT}

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
    SELECT tsvector_to_array(palimpsest_lexemes(term)) AS lexemes
    FROM unnest(%(terms)s::text[]) AS t (term)
)
SELECT message_id, conversation_id, position, role, said_at, extract(epoch FROM said_at)::float8
FROM (
    SELECT * FROM memory_messageentry e WHERE e.team_id = %(team)s AND e.is_waiting
    ORDER BY e.message_id DESC LIMIT {LOOKED_AT}
) AS memory_messageentry
CROSS JOIN LATERAL (
    SELECT tsvector_to_array(palimpsest_lexemes(left(m.content, {READ_CHARS}))) AS lexemes
    FROM teams_message m
    WHERE m.team_id = %(team)s AND m.id = memory_messageentry.message_id OFFSET 0
) AS said
WHERE {visible} AND NOT is_forgotten
ORDER BY (
    SELECT count(*) FROM wanted
    WHERE cardinality(wanted.lexemes) > 0 AND said.lexemes @> wanted.lexemes
) DESC, message_id DESC
LIMIT %(most)s

-- Which of the terms each text holds, and how many words, as the index of words would say it.
-- part: terms_in_texts
SELECT given.id, coalesce(bit_or(1::bigint << (wanted.number - 1)::int), 0),
    cardinality(said.lexemes)
FROM unnest(%(ids)s::uuid[], %(texts)s::text[]) AS given (id, text)
CROSS JOIN LATERAL (
    SELECT tsvector_to_array(palimpsest_lexemes(given.text)) AS lexemes OFFSET 0
) AS said
LEFT JOIN (
    SELECT t.number, tsvector_to_array(palimpsest_lexemes(t.term)) AS lexemes
    FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, number)
) AS wanted ON cardinality(wanted.lexemes) > 0 AND said.lexemes @> wanted.lexemes
GROUP BY given.id, said.lexemes
