-- What the searches of memories and of messages have in common. Python fills in the table, the
-- column that names its rows, and what is in braces else.

-- part: core
WITH asked AS MATERIALIZED (
    SELECT %(vector)s::float4[]::halfvec AS vector
), found AS MATERIALIZED (
    {found}
), counts AS MATERIALIZED (
    SELECT term, count(*) AS seen FROM found GROUP BY term
), rarities AS MATERIALIZED (
    SELECT term, seen, ln(1 + greatest(%(total)s::float8 - seen + 0.5, 0.5) / (seen + 0.5)) AS idf
    FROM counts
    WHERE seen < %(most)s::int OR NOT EXISTS (
        SELECT FROM counts WHERE seen > 0 AND seen < %(most)s::int
    )
), lexical AS MATERIALIZED (
    SELECT f.{key}, sum(r.idf) AS weight
    FROM found f JOIN rarities r USING (term) GROUP BY f.{key}
), near AS MATERIALIZED (
    {near}
), worded AS MATERIALIZED (
    SELECT {key}, weight / nullif((SELECT sum(idf) FROM rarities), 0) AS share FROM lexical
    ORDER BY weight DESC, {key} LIMIT {LEXICAL_LIMIT}
), hits AS MATERIALIZED (
    SELECT {key}, coalesce(w.share, 0) + coalesce(n.cosine, 0) AS promise
    FROM near n FULL JOIN worded w USING ({key})
), core AS MATERIALIZED (
    SELECT {key} FROM hits ORDER BY promise DESC, {key} LIMIT {CORE_LIMIT}
), around AS (
    SELECT n.{key}
    FROM core c
    CROSS JOIN LATERAL (
        SELECT * FROM {table} o
        WHERE o.team_id = %(team)s AND o.{key} = c.{key} OFFSET 0
    ) AS e
    CROSS JOIN LATERAL (
        SELECT {table}.{key} FROM (
            SELECT * FROM {table} o
            WHERE o.team_id = %(team)s AND o.conversation_id = e.conversation_id
                AND o.position BETWEEN e.position - {REACH} AND e.position + {REACH}
            OFFSET 0
        ) AS {table}
        WHERE {condition} LIMIT {NEIGHBOURS_LIMIT}
    ) n
)

-- part: held
held AS MATERIALIZED (
    SELECT f.{key}, bit_or(1::bigint << (f.term - 1)) AS terms
    FROM found f JOIN chosen USING ({key})
    WHERE f.term IN (SELECT term FROM rarities) GROUP BY f.{key}
)

-- The first columns are about the question, in the first row only: each row would carry them along.
-- part: question
    CASE WHEN row_number() OVER () = 1 THEN (SELECT array_agg(term) FROM rarities) END,
    CASE WHEN row_number() OVER () = 1 THEN (SELECT array_agg(seen) FROM rarities) END,
    CASE WHEN row_number() OVER () = 1 THEN (SELECT array_agg(term) FROM counts) END,
    CASE WHEN row_number() OVER () = 1 THEN (
        SELECT array_agg(number) FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, number)
        WHERE length(palimpsest_lexemes(term)) = 0
    ) END

-- part: cosine
-((CASE %(model)s::text
        WHEN {table}.embedding_model THEN {table}.embedding
        WHEN {table}.next_model THEN {table}.next_embedding
    END) <#> (SELECT vector FROM asked))

-- part: near_nothing
    SELECT NULL::uuid AS {key}, NULL::float8 AS cosine WHERE FALSE
