-- Of several writers that saw the same version only one inserts the next: the others wait for it at
-- the unique constraint, insert nothing and read again. One statement saves round trips.
WITH kept AS (
    SELECT version FROM teams_checkpoint
    WHERE team_id = %(team)s AND end_user_id = %(end_user)s AND thread_id = %(thread)s
        AND agent_id IS NOT DISTINCT FROM %(agent)s::uuid
),
stored AS (
    SELECT coalesce(max(version), 0) AS version,
        coalesce(array_agg(version ORDER BY version DESC), '{}') AS versions
    FROM kept
),
saved AS (
    INSERT INTO teams_checkpoint
        (id, team_id, agent_id, end_user_id, thread_id, version, data, size, actor, saved_at)
    SELECT %(id)s, %(team)s, %(agent)s, %(end_user)s, %(thread)s, version + 1, %(data)s, %(size)s,
        %(actor)s, %(now)s
    FROM stored
    WHERE (%(versions)s::int[] IS NULL OR version = ANY (%(versions)s::int[]) AND version > 0)
        AND version >= %(least)s AND (%(most)s::int IS NULL OR version <= %(most)s::int)
        AND version <> ALL (%(other_than)s::int[])
    ON CONFLICT DO NOTHING
    RETURNING version
),
dropped AS (
    DELETE FROM teams_checkpoint
    WHERE team_id = %(team)s AND end_user_id = %(end_user)s AND thread_id = %(thread)s
        AND agent_id IS NOT DISTINCT FROM %(agent)s::uuid
        AND version <= (SELECT version FROM saved) - %(depth)s
)
SELECT stored.versions, saved.version FROM stored LEFT JOIN saved ON true
