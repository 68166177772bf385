-- part: mark
-- In the order of ids, in which everybody locks. The rows are found by their ids alone: a kept plan
-- would join all of the team's, see memory/selectors/neighbours/comparing.sql.
UPDATE memory_memory AS memory
SET status = given.status, tier = given.tier, is_pinned = given.is_pinned,
    superseded_by_id = given.superseded_by, contradicts = given.contradicts::uuid[]
FROM unnest($2::uuid[], $3::text[], $4::text[], $5::boolean[], $6::uuid[], $7::text[])
    AS given (id, status, tier, is_pinned, superseded_by, contradicts)
WHERE (memory.team_id = $1) IS TRUE AND memory.id = given.id AND memory.id = ANY ($2::uuid[])
