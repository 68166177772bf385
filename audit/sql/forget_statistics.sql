-- What the planner keeps of a column are some of its values, until the table is looked at again: of
-- rows that an erasure emptied or removed as well. Not part of the erasure, as it may take seconds,
-- in which nobody should wait for what that holds. The last table is one that an erasure locks.
CREATE FUNCTION palimpsest_forget_statistics() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET lock_timeout = 0 AS $$
BEGIN
    ANALYZE teams_enduser, teams_conversation, teams_message, teams_checkpoint, memory_memory,
        memory_memorytag, memory_memoryartifact,
        memory_memorylevels, memory_signaluse, memory_judgedpair, memory_searchentry, memory_messageentry,
        memory_graphthread, memory_graphcheckpoint, memory_channelvalue, memory_pendingwrite,
        memory_storeitem, memory_contradiction, memory_compaction, memory_job, memory_consentrequest,
        audit_memorylog, audit_operationalevent, routing_routingdecision, django_admin_log,
        teams_idempotentrequest;
END
$$;
REVOKE ALL ON FUNCTION palimpsest_forget_statistics() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION palimpsest_forget_statistics() TO palimpsest_app;
