"""SQL that fills the tables of a benchmark team; `benchmarks.admin_ground` runs it as the owner."""

from __future__ import annotations

# The log as it would be if `of_each` of the memories had come with each commit, at their times.
LOG = (
    """
    CREATE TEMPORARY TABLE IF NOT EXISTS given_commits (
        number bigint, id bigint, at timestamptz, last_seq bigint, last_memory_id uuid
    ) ON COMMIT DELETE ROWS
    """,
    """
    INSERT INTO given_commits (number, id, at)
    SELECT (%(first)s + place - 1) / %(of_each)s, nextval('audit_logcommit_id_seq'),
        max(m.created_at)
    FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS given (id, place)
    JOIN memory_memory m ON m.team_id = %(team)s AND m.id = given.id
    GROUP BY 1
    """,
    """
    INSERT INTO audit_memorylog (team_id, memory_id, event, actor, reason, state, digest, at,
        commit_id, is_first, new_end_user_id)
    SELECT m.team_id, m.id, 'created', m.actor, '', palimpsest_memory_state(to_jsonb(m)),
        ''::bytea, m.created_at, c.id, true, m.end_user_id
    FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS given (id, place)
    JOIN memory_memory m ON m.team_id = %(team)s AND m.id = given.id
    JOIN given_commits c ON c.number = (%(first)s + place - 1) / %(of_each)s
    ORDER BY place
    """,
    """
    INSERT INTO audit_logcommit (id, team_id, transaction_number, began_at, is_last, position, at,
        last_seq, last_memory_id)
    OVERRIDING SYSTEM VALUE
    SELECT c.id, %(team)s, c.id, c.at, true, c.number + 1, c.at, max(l.seq),
        (array_agg(l.memory_id ORDER BY l.memory_id DESC))[1]
    FROM given_commits c JOIN audit_memorylog l ON l.team_id = %(team)s AND l.commit_id = c.id
    GROUP BY c.id, c.at, c.number
    """,
    """
    INSERT INTO audit_commitclock (id, team_id, position, at, last_seq, last_memory_id)
    SELECT gen_random_uuid(), team_id, position, at, last_seq, last_memory_id
    FROM audit_logcommit WHERE team_id = %(team)s ORDER BY position DESC LIMIT 1
    ON CONFLICT (team_id) DO UPDATE SET position = excluded.position, at = excluded.at,
        last_seq = excluded.last_seq, last_memory_id = excluded.last_memory_id
    """,
    "TRUNCATE given_commits",
)
SEARCH = """
INSERT INTO memory_searchentry (memory_id, team_id, embedding, embedding_model, lexemes)
SELECT m.id, m.team_id, given.vector::halfvec, %(model)s, palimpsest_lexemes(m.content)
FROM unnest(%(ids)s::uuid[], %(vectors)s::text[]) AS given (id, vector)
JOIN memory_memory m ON m.team_id = %(team)s AND m.id = given.id
"""

# Conversations of 20 messages, between agents and people in turn.
TALK = (
    """
    INSERT INTO teams_conversation (id, team_id, agent_id, end_user_id, thread_id, revision,
        last_position, extracted_position, created_at)
    SELECT gen_random_uuid(), %(team)s, a.ids[1 + n %% cardinality(a.ids)],
        p.ids[1 + n %% cardinality(p.ids)], 'thread-' || n, 0, 20, 20,
        %(now)s - n * make_interval(days => %(days)s) / %(conversations)s
    FROM generate_series(0, %(conversations)s - 1) AS n,
        (SELECT array_agg(id) AS ids FROM teams_agent WHERE team_id = %(team)s) AS a,
        (SELECT array_agg(id) AS ids FROM teams_enduser WHERE team_id = %(team)s) AS p
    """,
    """
    INSERT INTO teams_message (id, team_id, conversation_id, position, role, content, name,
        created_at, received_at)
    SELECT gen_random_uuid(), c.team_id, c.id, n,
        CASE n %% 2 WHEN 1 THEN 'user' ELSE 'assistant' END,
        'Message ' || n || ' of ' || c.thread_id || ' about the work of this week.', '',
        c.created_at + n * interval '1 minute', c.created_at + n * interval '1 minute'
    FROM teams_conversation c, generate_series(1, 20) AS n WHERE c.team_id = %(team)s
    """,
    """
    INSERT INTO teams_checkpoint (id, team_id, agent_id, end_user_id, thread_id, version, data,
        size, actor, saved_at)
    SELECT gen_random_uuid(), team_id, agent_id, end_user_id, thread_id, 1, '{}', 2, 'benchmark',
        created_at
    FROM teams_conversation WHERE team_id = %(team)s
    """,
)

# Two of three memories were retrieved, the newest ones last.
USES = (
    """
    INSERT INTO memory_memoryusage (memory_id, team_id, retrieved, cited, ignored, succeeded,
        failed, last_accessed_at, daily)
    SELECT id, team_id, n %% 40, n %% 7, n %% 11, 0, 0, %(now)s - n * interval '1 minute',
        jsonb_build_object(to_char(%(now)s - n * interval '1 minute', 'YYYY-MM-DD'), n %% 40)
    FROM (
        SELECT id, team_id, row_number() OVER (ORDER BY id DESC) AS n
        FROM memory_memory WHERE team_id = %(team)s
    ) AS numbered WHERE n %% 3 <> 0
    """,
)

# Two jobs of each conversation; one of 50 failed. Every one is over, so that no worker runs it.
JOBS = (
    """
    INSERT INTO memory_job (id, team_id, conversation_id, from_position, to_position, state,
        is_capped, done_position, left_out, waiting, written_that_day, attempts, result, error,
        created_at, finished_at)
    SELECT gen_random_uuid(), c.team_id, c.id, 1 + 10 * half, 10 + 10 * half,
        CASE WHEN hashtext(c.thread_id) %% 50 = 0 THEN 'failed' ELSE 'done' END, true,
        10 + 10 * half, 0, '[]', 0, 1, jsonb_build_object(
            'created', 3, 'versioned', 1, 'messages_read', 10
        ), CASE WHEN hashtext(c.thread_id) %% 50 = 0 THEN 'The model did not answer.' ELSE '' END,
        c.created_at, c.created_at + interval '1 minute'
    FROM teams_conversation c, generate_series(0, 1) AS half WHERE c.team_id = %(team)s
    """,
)

# One for each memory, over 30 days.
EVENTS = (
    "SELECT palimpsest_make_event_days((%(now)s - interval '31 days')::date, %(now)s::date)",
    """
    INSERT INTO audit_operationalevent (id, team_id, node, op, status, meta, at)
    SELECT gen_random_uuid(), %(team)s, 'hotpath',
        (ARRAY['search', 'context', 'chat', 'create', 'extract'])[1 + n %% 5],
        CASE n %% 100 WHEN 0 THEN 'error' ELSE 'ok' END, '{"count": 3}',
        %(now)s - n * interval '30 days' / %(memories)s
    FROM generate_series(0, %(memories)s - 1) AS n
    """,
)

# One call of a model and one choice of it for each fifth memory.
SPEND = (
    """
    INSERT INTO routing_spendentry (id, team_id, agent_id, reservation_id, model, tier,
        input_tokens, output_tokens, cost_usd, day, at)
    SELECT gen_random_uuid(), %(team)s, a.ids[1 + n %% cardinality(a.ids)], gen_random_uuid(),
        'a/model', (ARRAY['fast', 'powerful'])[1 + n %% 2], 900, 100, 0.0001,
        (%(now)s - n * make_interval(days => %(days)s) / (%(memories)s / 5))::date,
        %(now)s - n * make_interval(days => %(days)s) / (%(memories)s / 5)
    FROM generate_series(0, %(memories)s / 5 - 1) AS n,
        (SELECT array_agg(id) AS ids FROM teams_agent WHERE team_id = %(team)s) AS a
    """,
    """
    INSERT INTO routing_routingdecision (id, team_id, agent_id, query_hash, scores, score, scorer,
        tier, model, provider, reason, estimated_usd, at, outcome, answered_by, attempts, cost_usd)
    SELECT e.id, e.team_id, e.agent_id, 'hash', '{}', 3, 'heuristics', e.tier, e.model, 'provider',
        'a short question', e.cost_usd, e.at, 'answered', e.model, '[]', e.cost_usd
    FROM routing_spendentry e WHERE e.team_id = %(team)s
    """,
)
