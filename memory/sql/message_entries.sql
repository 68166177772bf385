-- Makes the entry of each new message that the raw search may find, waiting to be filled in.
CREATE OR REPLACE FUNCTION palimpsest_await_messages() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.memory_messageentry (message_id, team_id, conversation_id, agent_id,
        end_user_id, project_id, position, said_at, role)
    SELECT m.id, m.team_id, m.conversation_id, c.agent_id, c.end_user_id, c.project_id, m.position,
        m.created_at, m.role
    FROM said m
    JOIN public.teams_conversation c ON c.team_id = m.team_id AND c.id = m.conversation_id
    WHERE m.role IN ('user', 'assistant') AND m.source NOT IN ('tool', 'web');
    RETURN NULL;
END
$$;
