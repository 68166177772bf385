-- part: lock
-- One statement waits for all of them, in their order. A large batch before this one may take long;
-- a row that somebody holds should not, so the longer limit ends with the statement.
WITH before AS MATERIALIZED (
    SELECT current_setting('lock_timeout') AS limit, set_config('lock_timeout', '50s', true)
), taken AS MATERIALIZED (
    SELECT pg_advisory_xact_lock(number)
    FROM before, unnest($1::bigint[]) WITH ORDINALITY AS locks (number, place) ORDER BY place
)
SELECT set_config('lock_timeout', (SELECT before.limit FROM before), true)
FROM (SELECT count(*) FROM taken) AS all_taken
