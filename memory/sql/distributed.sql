-- As in audit/sql/distributed.sql.
CREATE OR REPLACE FUNCTION palimpsest_await_messages() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    team uuid;
    ids uuid[];
BEGIN
    FOR team, ids IN
        SELECT m.team_id, array_agg(m.id) FROM said m
        WHERE m.role IN ('user', 'assistant') AND m.source NOT IN ('tool', 'web')
        GROUP BY m.team_id
    LOOP
        INSERT INTO public.memory_messageentry (message_id, team_id, conversation_id, agent_id,
            end_user_id, project_id, position, said_at, role)
        SELECT m.id, m.team_id, m.conversation_id, c.agent_id, c.end_user_id, c.project_id,
            m.position, m.created_at, m.role
        FROM public.teams_message m
        JOIN public.teams_conversation c ON c.team_id = m.team_id AND c.id = m.conversation_id
        WHERE m.team_id = team AND m.id = ANY (ids);
    END LOOP;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION palimpsest_move_entry() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    moved_to smallint := public.palimpsest_place(NEW.status, NEW.tier);
BEGIN
    UPDATE public.memory_searchentry SET
        memory_type = NEW.memory_type,
        agent_id = NEW.agent_id,
        end_user_id = NEW.end_user_id,
        project_id = NEW.project_id,
        held_from = NEW.valid_from,
        held_until = NEW.valid_to,
        place = moved_to,
        graph_dimensions = CASE WHEN moved_to = 0 THEN graph_dimensions ELSE 0 END
    WHERE team_id = NEW.team_id AND memory_id = NEW.id;
    RETURN NULL;
END
$$;
