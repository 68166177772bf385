-- The nearest memories of many drafts, each asked for in its own audience.
-- part: asked
WITH asked AS MATERIALIZED (
    SELECT given.place, given.agent, given.end_user, given.project, given.author, given.subject,
        (%(vectors)s::float4[])[(given.place - 1) * %(size)s + 1 : given.place * %(size)s]::halfvec
        AS vector
    FROM unnest(%(agents)s::uuid[], %(end_users)s::uuid[], %(projects)s::uuid[],
        %(authors)s::uuid[], %(subjects)s::text[]) WITH ORDINALITY
        AS given (agent, end_user, project, author, subject, place)
)
-- part: exact
SELECT asked.place::integer, near.memory_id, -near.product, FALSE
FROM asked CROSS JOIN LATERAL (
    SELECT memory_id, {stored} <#> asked.vector AS product
    FROM memory_searchentry
    WHERE team_id = %(team)s AND {condition}
        AND (embedding_model = %(model)s OR next_model = %(model)s)
    ORDER BY product LIMIT %(closest)s
) AS near
-- part: approximate
SELECT asked.place::integer, near.memory_id, -near.product, FALSE
FROM asked CROSS JOIN LATERAL (
    SELECT memory_id, embedding::halfvec({size}) <#> asked.vector::halfvec({size}) AS product
    FROM memory_searchentry
    WHERE team_id = %(team)s AND {condition}
        AND graph_dimensions = {size} AND graph_number = {number} AND embedding_model = %(model)s
    ORDER BY product LIMIT %(closest)s
) AS near
-- part: of_subject
-- By the index of the subjects of live memories, which must be named as it names them.
SELECT asked.place::integer, near.memory_id, -near.product, TRUE
FROM asked CROSS JOIN LATERAL (
    SELECT memory_id, {stored} <#> asked.vector AS product
    FROM (
        SELECT id FROM memory_memory
        WHERE team_id = %(team)s AND subject = asked.subject AND subject <> ''
            AND status IN ('active', 'disputed')
        OFFSET 0
    ) AS of_subject JOIN memory_searchentry ON memory_id = of_subject.id
    WHERE team_id = %(team)s AND {condition}
        AND (embedding_model = %(model)s OR next_model = %(model)s)
    ORDER BY product LIMIT %(closest)s
) AS near
