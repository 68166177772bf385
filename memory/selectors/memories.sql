-- Memories by their ids, as answers show them: with the names of whom they belong to and their
-- usage. Each id is looked up by itself, which OFFSET 0 makes sure of: with a list or a join the
-- planner may read the whole team. The alias of the memory is the one of the compiled rule of
-- visibility, which Python fills in with the columns.

-- part: by_id
SELECT a.slug, eu.external_id, p.slug, {columns}
FROM unnest(%(ids)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT * FROM memory_memory m
    WHERE m.team_id = %(team)s AND m.id = wanted.id OFFSET 0
) AS memory_searchentry
LEFT JOIN LATERAL (
    SELECT * FROM memory_memoryusage o
    WHERE o.team_id = %(team)s AND o.memory_id = wanted.id OFFSET 0
) AS usage ON TRUE
LEFT JOIN LATERAL (
    SELECT slug FROM teams_agent o
    WHERE o.team_id = %(team)s AND o.id = memory_searchentry.agent_id OFFSET 0
) AS a ON TRUE
LEFT JOIN LATERAL (
    SELECT external_id FROM teams_enduser o
    WHERE o.team_id = %(team)s AND o.id = memory_searchentry.end_user_id OFFSET 0
) AS eu ON TRUE
LEFT JOIN LATERAL (
    SELECT slug FROM teams_project o
    WHERE o.team_id = %(team)s AND o.id = memory_searchentry.project_id OFFSET 0
) AS p ON TRUE
WHERE {visible}
    AND (cardinality(%(categories)s::text[]) = 0
        OR memory_searchentry.category = ANY (%(categories)s::text[]))
