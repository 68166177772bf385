-- The sums of the spend entries, kept with each entry in its transaction, whoever writes it. With
-- the owner's rights: the application may read the sums and not write them.
CREATE FUNCTION palimpsest_total_spend() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    month_begins date := date_trunc('month', NEW.day)::date;
BEGIN
    -- In one order for everybody: entries wait for each other, never in a circle.
    INSERT INTO public.routing_spendtotal
        (id, team_id, kind, agent_id, end_user_id, begins_on, spent_usd, calls, input_tokens,
         output_tokens)
    SELECT gen_random_uuid(), NEW.team_id, w.kind, w.agent_id, w.end_user_id, w.begins_on,
        NEW.cost_usd, 1, NEW.input_tokens, NEW.output_tokens
    FROM (VALUES
        ('agent_day', NEW.agent_id, NULL::uuid, NEW.day),
        ('agent_month', NEW.agent_id, NULL, month_begins),
        ('team_day', NULL, NULL, NEW.day),
        ('team_month', NULL, NULL, month_begins),
        ('user_day', NULL, NEW.end_user_id, NEW.day)
    ) AS w (kind, agent_id, end_user_id, begins_on)
    WHERE (w.kind <> 'user_day' OR w.end_user_id IS NOT NULL)
        AND (w.kind NOT LIKE 'agent%' OR w.agent_id IS NOT NULL)
    ORDER BY w.kind
    ON CONFLICT (team_id, kind, begins_on, agent_id, end_user_id) DO UPDATE SET
        spent_usd = routing_spendtotal.spent_usd + EXCLUDED.spent_usd,
        calls = routing_spendtotal.calls + 1,
        input_tokens = routing_spendtotal.input_tokens + EXCLUDED.input_tokens,
        output_tokens = routing_spendtotal.output_tokens + EXCLUDED.output_tokens;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER total_spend AFTER INSERT ON routing_spendentry
    FOR EACH ROW EXECUTE FUNCTION palimpsest_total_spend();
