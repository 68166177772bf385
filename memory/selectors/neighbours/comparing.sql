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
