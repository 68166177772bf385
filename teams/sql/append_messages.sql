-- Inserts nothing if one of the external ids is known. OFFSET has each looked up by the index.
WITH known AS MATERIALIZED (
    SELECT FROM unnest($10::text[]) AS wanted (external_id)
    CROSS JOIN LATERAL (
        SELECT FROM teams_message m
        WHERE m.team_id = $1 AND m.conversation_id = $2 AND m.external_id = wanted.external_id
        OFFSET 0
    ) AS m LIMIT 1
), moved AS (
    UPDATE teams_conversation SET last_position = $3
    WHERE team_id = $1 AND id = $2 AND NOT EXISTS (SELECT FROM known)
)
INSERT INTO teams_message
    (team_id, conversation_id, received_at, id, position, role, content, name, external_id,
     created_at, source)
SELECT $1, $2, $4, given.*
FROM unnest(
    $5::uuid[], $6::integer[], $7::text[], $8::text[], $9::text[], $10::text[], $11::timestamptz[],
    $12::text[]
) AS given
WHERE NOT EXISTS (SELECT FROM known)
RETURNING TRUE
