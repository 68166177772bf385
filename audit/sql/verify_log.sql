-- Inconsistencies of a team's log as (kind, row, entry), at most 1,000 of each kind.

-- Each memory against the last row of its log, and rows of the log without their memory. A row from
-- before a column was added has what the column was added with.
WITH last AS (
    SELECT DISTINCT ON (memory_id) memory_id, seq, state
    FROM audit_memorylog WHERE team_id = %(team)s
    ORDER BY memory_id, seq DESC
)
SELECT CASE
    WHEN m.id IS NULL THEN 'memory_missing'
    WHEN last.seq IS NULL THEN 'memory_unlogged'
    ELSE 'memory_changed' END, coalesce(m.id, last.memory_id), last.seq
FROM (SELECT * FROM memory_memory WHERE team_id = %(team)s) AS m
FULL JOIN last ON last.memory_id = m.id
WHERE m.id IS NULL OR last.seq IS NULL
    OR palimpsest_memory_state(to_jsonb(m))
        IS DISTINCT FROM '{"purge_at": null}'::jsonb || (last.state - 'erased_at')
ORDER BY 3, 2
LIMIT 1000;

-- Reasons that were emptied without an erasure: one takes those of its own transactions only.
SELECT 'reason_emptied', l.memory_id, l.seq FROM audit_memorylog l
WHERE l.team_id = %(team)s AND l.reason_digest IS NOT NULL AND l.reason_salt IS NULL
    AND NOT EXISTS (
        SELECT FROM audit_memorylog own
        WHERE own.team_id = l.team_id AND own.commit_id = l.commit_id
            AND own.state->>'erased_at' IS NOT NULL
    )
ORDER BY l.seq
LIMIT 1000;

-- The order of commits, on which reads of the past rest. Ids are compared as text: max() knows no
-- uuid. A commit bounds the rows and memories of all commits up to it; one without rows was added.
WITH entries AS (
    SELECT commit_id, min(seq) AS seq, max(seq) AS last_seq,
        max(memory_id::text COLLATE "C") AS last_memory
    FROM audit_memorylog WHERE team_id = %(team)s GROUP BY commit_id
),
stamped AS (
    SELECT id, position, at, last_seq, last_memory_id::text COLLATE "C" AS last_memory,
        max(at) OVER before AS at_before
    FROM audit_logcommit WHERE team_id = %(team)s
    WINDOW before AS (ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
),
both_sides AS (
    SELECT c.*, e.commit_id, e.seq,
        max(e.last_seq) OVER so_far AS needed_seq, max(e.last_memory) OVER so_far AS needed_memory
    FROM stamped c FULL JOIN entries e ON e.commit_id = c.id
    WINDOW so_far AS (ORDER BY c.position)
),
latest AS (SELECT * FROM stamped ORDER BY position DESC LIMIT 1)
(
    SELECT CASE
        WHEN id IS NULL THEN 'commit_missing'
        WHEN commit_id IS NULL THEN 'commit_inserted'
        ELSE 'commit_changed' END, position, seq
    FROM both_sides
    WHERE id IS NULL OR commit_id IS NULL OR position IS NULL OR at IS NULL
        OR at < at_before OR last_seq IS NULL OR last_seq < needed_seq
        OR last_memory IS NULL OR last_memory < needed_memory
    ORDER BY position, seq
    LIMIT 1000
)
UNION ALL
SELECT 'clock_changed', k.position, NULL
FROM latest FULL JOIN (SELECT * FROM audit_commitclock WHERE team_id = %(team)s) AS k ON true
WHERE (k.position, k.at, k.last_seq, k.last_memory_id::text)
    IS DISTINCT FROM (latest.position, latest.at, latest.last_seq, latest.last_memory);
