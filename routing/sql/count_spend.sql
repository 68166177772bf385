-- Shares the team's lock from here to the end of the transaction.
WITH turn AS MATERIALIZED (
    SELECT pg_advisory_xact_lock_shared($13)
), held AS (
    DELETE FROM routing_spendreservation WHERE team_id = $1 AND id = $5
)
INSERT INTO routing_spendentry
    (team_id, agent_id, end_user_id, day, reservation_id, id, model, tier, input_tokens,
     output_tokens, cost_usd, at)
SELECT $1::uuid, $2::uuid, $3::uuid, $4::date, $5::uuid, $6::uuid, $7::text, $8::text, $9::int,
    $10::int, $11::numeric, $12::timestamptz
FROM turn
ON CONFLICT (team_id, reservation_id) DO NOTHING
RETURNING true
