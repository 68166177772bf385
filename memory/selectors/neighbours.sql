-- What a write reads of the memories that new ones are compared with.
-- The policy of the rows names the team as well, and the planner takes two conditions for two
-- shares of the table: of a team it expects next to nothing, and reads all it has by whatever
-- index. So the team is named where no index knows it (IS TRUE).
-- part: live
SELECT {columns} FROM memory_memory
WHERE (team_id = %(team)s) IS TRUE AND id = ANY(%(ids)s) AND status = ANY(%(live)s::text[])
-- part: facts
SELECT {columns} FROM memory_memory
WHERE (team_id = %(team)s) IS TRUE AND dedupe_key = ANY(%(keys)s::bytea[])
    AND dedupe_key IS NOT NULL AND status IN ('active', 'disputed')
-- part: retired
-- By the owner's index of what searches no longer find: no index knows the keys of what is retired.
SELECT m.dedupe_key, m.source_message_ids
FROM memory_searchentry AS e
CROSS JOIN LATERAL (
    SELECT * FROM memory_memory o
    WHERE (o.team_id = %(team)s) IS TRUE AND o.id = e.memory_id OFFSET 0
) AS m
WHERE e.team_id = %(team)s AND e.end_user_id {owner} AND e.place >= 2
    AND m.dedupe_key = ANY(%(keys)s::bytea[]) AND m.status NOT IN ('active', 'disputed')
-- part: meanings
SELECT wanted.id, e.agent_id, m.extraction_pass, halfvec_send(CASE %(model)s::text
    WHEN e.embedding_model THEN e.embedding WHEN e.next_model THEN e.next_embedding
END)
FROM unnest(%(ids)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT * FROM memory_searchentry o
    WHERE (o.team_id = %(team)s) IS TRUE AND o.memory_id = wanted.id OFFSET 0
) AS e
CROSS JOIN LATERAL (
    SELECT extraction_pass FROM memory_memory o
    WHERE (o.team_id = %(team)s) IS TRUE AND o.id = wanted.id OFFSET 0
) AS m
-- part: decisions
-- What people settled about memories that stood under one of some keys.
-- No index knows the words of what is retired. So a decision is looked for where it left something:
-- by what stands near, back to what that once replaced, and among the objections, which are few.
-- That something was replaced is asked behind the look for its row: an index of what was replaced
-- would be read whole for it.
WITH RECURSIVE chain (near, id, depth) AS (
    SELECT near, near, 0 FROM unnest(%(near)s::uuid[]) AS near
    UNION ALL
    SELECT chain.near, m.supersedes_id, chain.depth + 1
    FROM chain
    CROSS JOIN LATERAL (
        SELECT o.supersedes_id FROM memory_memory o
        WHERE (o.team_id = %(team)s) IS TRUE AND o.id = chain.id OFFSET 0
    ) AS m
    WHERE m.supersedes_id IS NOT NULL AND chain.depth < 50
), settled AS (
    SELECT chain.near, chain.depth, c.* FROM chain CROSS JOIN LATERAL (
        SELECT * FROM memory_contradiction o
        WHERE o.team_id = %(team)s AND o.memory_a_id = chain.id AND o.resolved_at IS NOT NULL
        UNION ALL
        SELECT * FROM memory_contradiction o
        WHERE o.team_id = %(team)s AND o.memory_b_id = chain.id AND o.resolved_at IS NOT NULL
    ) AS c
    UNION ALL
    SELECT NULL, 0, o.* FROM memory_contradiction o
    WHERE o.team_id = %(team)s AND o.memory_b_id IS NULL AND o.resolved_at IS NOT NULL
)
SELECT s.near, s.depth, s.resolution, s.resolved_by, s.resolved_at, s.resolution_note,
    s.memory_b_id IS NOT NULL, m.id = s.memory_a_id, m.dedupe_key,
    m.id, m.team_id, m.memory_type, m.agent_id, m.end_user_id, m.project_id, m.category, m.status,
    m.extraction_pass
FROM settled AS s
CROSS JOIN LATERAL (
    SELECT * FROM memory_memory o
    WHERE (o.team_id = %(team)s) IS TRUE AND o.id IN (s.memory_a_id, s.memory_b_id) OFFSET 0
) AS m
WHERE s.resolved_by NOT LIKE 'judge:%%' AND m.dedupe_key = ANY(%(keys)s::bytea[])
-- A settlement of what is near itself comes after the same one found by what near replaced.
ORDER BY s.resolved_at, s.depth DESC
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
