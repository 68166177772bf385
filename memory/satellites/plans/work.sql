-- Candidates of the context of work in progress and of predictions.

-- part: working_set
-- What may stand in the context of work in progress, with why, tags and files.
WITH newest AS MATERIALIZED (
    SELECT found.*, '' AS reason
    FROM (VALUES {most}) AS wanted (form, most)
    CROSS JOIN LATERAL (
        SELECT {columns} FROM memory_memory
        WHERE {seen} AND memory_memory.form = wanted.form AND memory_memory.form <> ''
        ORDER BY memory_memory.id DESC LIMIT wanted.most
    ) AS found
), named AS MATERIALIZED (
    SELECT {columns}, '' AS reason FROM memory_memoryartifact a
    JOIN memory_memory ON memory_memory.team_id = a.team_id AND memory_memory.id = a.memory_id
    WHERE a.team_id = %(team)s AND a.kind = 'file' AND a.ref = ANY(%(files)s::text[])
        AND memory_memory.form IN ('decision', 'failure') AND {seen}
    LIMIT {most_of_files}
), tagged AS MATERIALIZED (
    SELECT {columns}, 'summary' AS reason FROM memory_memorytag t
    JOIN memory_memory ON memory_memory.team_id = t.team_id AND memory_memory.id = t.memory_id
    WHERE t.team_id = %(team)s AND t.name = 'summary' AND {seen}
    ORDER BY memory_memory.id DESC LIMIT {most_tagged}
), liked AS MATERIALIZED (
    SELECT {columns}, 'liked' AS reason FROM memory_memory
    WHERE {seen} AND memory_memory.end_user_id = %(collaborator)s::uuid AND (
        memory_memory.memory_type = 'user_profile' OR memory_memory.category = 'preferences'
        OR memory_memory.subject LIKE 'user.preference%%'
    )
    LIMIT {most_liked}
), disputed AS MATERIALIZED (
    SELECT {columns}, 'disputed' AS reason
    FROM (
        SELECT memory_a_id, memory_b_id, detected_at FROM memory_contradiction
        WHERE team_id = %(team)s AND resolved_at IS NULL
        ORDER BY detected_at DESC LIMIT {most_open}
    ) AS c
    JOIN memory_memory ON memory_memory.team_id = %(team)s
        AND memory_memory.id = ANY(ARRAY[c.memory_a_id, c.memory_b_id])
    WHERE memory_memory.project_id = %(project)s AND memory_memory.status = 'disputed' AND {seen}
    ORDER BY c.detected_at DESC LIMIT {most_disputed}
)
SELECT each.*, (
    SELECT array_agg(t.name) FROM memory_memorytag t
    WHERE t.team_id = %(team)s AND t.memory_id = each.id
), (
    SELECT array_agg(a.ref) FROM memory_memoryartifact a
    WHERE a.team_id = %(team)s AND a.memory_id = each.id AND a.kind = 'file'
)
FROM (
    SELECT * FROM newest UNION SELECT * FROM named
    UNION SELECT * FROM tagged UNION SELECT * FROM liked UNION SELECT * FROM disputed
) AS each

-- part: files
-- The paths that memories name.
SELECT memory_id, array_agg(ref) FROM memory_memoryartifact
WHERE team_id = %(team)s AND memory_id = ANY(%(ids)s::uuid[]) AND kind = 'file'
GROUP BY memory_id

-- part: topics
-- How many memories each topic has.
WITH seen AS MATERIALIZED (SELECT id, category, subject FROM memory_memory WHERE {seen})
SELECT topic, count(*)::int FROM (
    SELECT id, lower(category) AS topic FROM seen
    UNION SELECT id, lower(split_part(subject, '.', 1)) FROM seen
    UNION SELECT seen.id, lower(t.name) FROM seen
        JOIN memory_memorytag t ON t.team_id = %(team)s AND t.memory_id = seen.id
    UNION SELECT seen.id, lower(regexp_replace(a.ref, '/[^/]*$', '')) FROM seen
        JOIN memory_memoryartifact a ON a.team_id = %(team)s AND a.memory_id = seen.id
        WHERE a.kind = 'file' AND position('/' IN a.ref) > 0
) AS named
WHERE topic <> ''
-- A topic of more than half of the memories says nothing about any of them.
GROUP BY topic HAVING 2 * count(*) <= greatest(40, (SELECT count(*) FROM seen))
ORDER BY count(*) DESC, topic LIMIT {most}

-- part: touches
-- Newest first, and each memory looked up by its id behind OFFSET 0, only until there are enough.
-- Where the planner may choose, it looks through all memories of the team for each file.
SELECT file.memory_id, file.ref, file.added, file.removed, file.breadth
FROM (
    SELECT memory_id, ref, added, removed, breadth FROM memory_memoryartifact
    WHERE team_id = %(team)s AND kind = 'file' AND {among}
    ORDER BY memory_id DESC LIMIT {looked_at}
) AS file
CROSS JOIN LATERAL (
    SELECT * FROM memory_memory o
    WHERE (o.team_id = %(team)s) IS TRUE AND o.id = file.memory_id OFFSET 0
) AS memory_memory
WHERE {seen}
ORDER BY file.memory_id DESC LIMIT {most}
