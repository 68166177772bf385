-- The people of memories. Each id is looked up by itself, as in memories.sql.

-- What the people are called of whom memories say "User", one row for each memory of which it is
-- sure who that is: the person of its conversation, whose memory it still is.

-- part: names
WITH wanted AS MATERIALIZED (
    SELECT m.id, m.end_user_id, m.conversation_id
    FROM unnest(%(ids)s::uuid[]) AS given (id)
    CROSS JOIN LATERAL (
        SELECT id, end_user_id, conversation_id, source_message_ids, content
        FROM memory_memory o
        WHERE o.team_id = %(team)s AND o.id = given.id OFFSET 0
    ) AS m
    LEFT JOIN LATERAL (
        SELECT end_user_id FROM teams_conversation o
        WHERE o.team_id = %(team)s AND o.id = m.conversation_id OFFSET 0
    ) AS c ON TRUE
    WHERE m.end_user_id IS NOT NULL AND coalesce(c.end_user_id, m.end_user_id) = m.end_user_id
        -- What somebody said of a user in the same words, the memory may repeat.
        AND NOT EXISTS (
            SELECT FROM unnest(m.source_message_ids) AS source (id)
            CROSS JOIN LATERAL (
                SELECT content FROM teams_message o
                WHERE o.team_id = %(team)s AND o.id = source.id OFFSET 0
            ) AS said
            WHERE said.content ~* '\muser' AND EXISTS (
                SELECT FROM regexp_matches(m.content, '\mUser\M(?:[''’]s)?\W*(\w*)', 'g') AS n (word)
                WHERE said.content ~* ('\muser\M(?:[''’]s)?\W*' || n.word[1])
            )
        )
    UNION ALL
    SELECT c.id, c.end_user_id, c.id
    FROM teams_conversation c
    WHERE c.team_id = %(team)s AND c.id = %(conversation)s::uuid
), people AS MATERIALIZED (
    SELECT u.id, u.display_name, u.external_id
    FROM (SELECT DISTINCT end_user_id AS id FROM wanted) AS w
    CROSS JOIN LATERAL (
        SELECT * FROM teams_enduser o WHERE o.team_id = %(team)s AND o.id = w.id OFFSET 0
    ) AS u
), talks AS MATERIALIZED (
    SELECT DISTINCT wanted.conversation_id, people.id, people.external_id
    FROM wanted JOIN people ON people.id = wanted.end_user_id
    WHERE people.display_name = '' AND wanted.conversation_id IS NOT NULL
), heard AS (
    -- One name since it was first given, and nobody else's: then it is the person's.
    SELECT talks.conversation_id, n.name
    FROM talks
    CROSS JOIN LATERAL (
        SELECT max(name) AS name
        FROM (
            SELECT name, position FROM teams_message o
            WHERE o.team_id = %(team)s AND o.conversation_id = talks.conversation_id
                AND o.role = 'user' AND o.source = ''
            ORDER BY o.position DESC LIMIT %(latest)s::int
        ) AS said
        HAVING count(DISTINCT name) FILTER (WHERE name <> '') = 1
            AND min(position) FILTER (WHERE name <> '')
                > coalesce(max(position) FILTER (WHERE name = ''), 0)
    ) AS n
    WHERE NOT EXISTS (
        SELECT FROM teams_enduser o
        WHERE o.team_id = %(team)s AND o.external_id = n.name AND o.id <> talks.id
    )
)
SELECT wanted.id, people.display_name, people.external_id, heard.name
FROM wanted
JOIN people ON people.id = wanted.end_user_id
LEFT JOIN heard ON heard.conversation_id = wanted.conversation_id

-- Who said the sentences that memories quote, one row for each memory that does: the name of the
-- message, else that of the person of its conversation, else of the person whose memory it is.

-- part: quotes
SELECT m.id, coalesce(
        nullif(said.name, ''), nullif(talker.display_name, ''), talker.external_id,
        nullif(owner.display_name, ''), owner.external_id, ''
    ), m.created_at, m.valid_from, m.valid_to
FROM unnest(%(ids)s::uuid[]) AS given (id)
CROSS JOIN LATERAL (
    SELECT * FROM memory_memory o WHERE o.team_id = %(team)s AND o.id = given.id OFFSET 0
) AS m
LEFT JOIN LATERAL (
    -- The agent's question may be among them, and later messages that say it again.
    SELECT message.name, message.conversation_id
    FROM unnest(m.source_message_ids) WITH ORDINALITY AS source (id, place)
    CROSS JOIN LATERAL (
        SELECT name, role = 'user' AND source = '' AS is_users, conversation_id
        FROM teams_message o
        WHERE o.team_id = %(team)s AND o.id = source.id OFFSET 0
    ) AS message
    ORDER BY message.is_users DESC, source.place
    LIMIT 1
) AS said ON TRUE
LEFT JOIN LATERAL (
    SELECT end_user_id FROM teams_conversation o
    WHERE o.team_id = %(team)s AND o.id = said.conversation_id OFFSET 0
) AS talk ON TRUE
LEFT JOIN LATERAL (
    SELECT display_name, external_id FROM teams_enduser o
    WHERE o.team_id = %(team)s AND o.id = talk.end_user_id OFFSET 0
) AS talker ON TRUE
LEFT JOIN LATERAL (
    SELECT display_name, external_id FROM teams_enduser o
    WHERE o.team_id = %(team)s AND o.id = m.end_user_id OFFSET 0
) AS owner ON TRUE
WHERE m.extractor = %(quoting)s
