-- part: lock
-- In one order by everybody. A large batch before this one may take long; a row that somebody holds
-- should not, so the longer limit ends with the statement.
WITH before AS MATERIALIZED (
    SELECT current_setting('lock_timeout') AS limit, set_config('lock_timeout', '50s', true)
), taken AS MATERIALIZED (
    SELECT pg_advisory_xact_lock(hashtextextended(name, 0))
    FROM before, unnest($1::text[]) WITH ORDINALITY AS locks (name, place) ORDER BY place
)
SELECT set_config('lock_timeout', (SELECT before.limit FROM before), true)
FROM (SELECT count(*) FROM taken) AS all_taken
-- part: memories
-- One parameter for all rows: the ORM takes four times as long to write a value at a time. The row
-- of the team tells a distributed database where these belong.
INSERT INTO memory_memory ({columns})
SELECT {values} FROM teams_team AS team
JOIN jsonb_populate_recordset(NULL::memory_memory, $1) AS given ON given.team_id = team.id
WHERE team.id = $2
-- part: search_entries
INSERT INTO memory_searchentry (memory_id, team_id, memory_type, said_at, people, embedding,
    embedding_model, next_embedding, next_model, lexemes)
SELECT given.memory_id, team.id, '', now(), string_to_array(given.people, ' '),
    CASE WHEN given.is_embedded
        THEN ($2::float4[])[(given.place - 1) * $3 + 1 : given.place * $3]::halfvec END,
    CASE WHEN given.is_embedded THEN $1 ELSE '' END,
    given.next_vector::halfvec, coalesce(given.next_model, ''),
    palimpsest_lexemes(given.content)
FROM teams_team AS team
CROSS JOIN unnest($4::uuid[], $6::text[], $7::text[], $8::text[], $9::text[],
    $10::boolean[]) WITH ORDINALITY
    AS given (memory_id, content, people, next_vector, next_model, is_embedded, place)
WHERE team.id = $5
-- part: links
INSERT INTO memory_memoryrelation
    (id, team_id, from_memory_id, to_memory_id, relation_type, strength, created_at)
SELECT given.id, team.id, given.from_id, given.to_id, given.type, given.strength, $1
FROM teams_team AS team
CROSS JOIN unnest($2::uuid[], $4::uuid[], $5::uuid[], $6::float8[], $7::text[])
    AS given (id, from_id, to_id, strength, type)
WHERE team.id = $3
ON CONFLICT DO NOTHING
-- part: mark
-- In the order of ids, in which everybody locks. The rows are found by their ids alone: a kept plan
-- would join all of the team's, see memory/selectors/neighbours.sql.
UPDATE memory_memory AS memory
SET status = given.status, tier = given.tier, is_pinned = given.is_pinned,
    superseded_by_id = given.superseded_by,
    -- Each text is cast, not that of an array: Citus wants what is immutable here.
    contradicts = string_to_array(given.contradicts, ',')::uuid[]
FROM unnest($2::uuid[], $3::text[], $4::text[], $5::boolean[], $6::uuid[], $7::text[])
    AS given (id, status, tier, is_pinned, superseded_by, contradicts)
WHERE (memory.team_id = $1) IS TRUE AND memory.id = given.id AND memory.id = ANY ($2::uuid[])
