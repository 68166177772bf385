-- In place of the function of message_layout.sql: an insight is drawn from many messages and says none
-- of them again, so deleting it hides none.
CREATE OR REPLACE FUNCTION palimpsest_forget_messages() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.memory_type = 'insight' THEN
        RETURN NULL;
    END IF;
    UPDATE public.memory_messageentry e
    SET is_forgotten = NEW.status = 'soft_deleted' OR EXISTS (
        SELECT FROM public.memory_searchentry s
        JOIN public.memory_memory m ON m.team_id = s.team_id AND m.id = s.memory_id
        WHERE s.team_id = e.team_id AND s.conversation_id = e.conversation_id
            AND m.status = 'soft_deleted' AND m.memory_type <> 'insight'
            AND e.message_id = ANY (m.source_message_ids)
    )
    WHERE e.team_id = NEW.team_id AND e.message_id = ANY (NEW.source_message_ids);
    RETURN NULL;
END
$$;
