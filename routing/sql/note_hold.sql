WITH noted AS (
    INSERT INTO routing_spendreservation
        (team_id, agent_id, end_user_id, day, id, estimated_usd, reserved_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
)
SELECT coalesce((SELECT number FROM routing_spendepoch WHERE team_id = $1), 0)
