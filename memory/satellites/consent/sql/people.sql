-- No request is written for a person who was erased (audit/sql/erasure_guards.sql).
CREATE TRIGGER check_people AFTER INSERT ON memory_consentrequest REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_check_people_of_rows();
