-- The words of a text as the index has them. Scripts without spaces between words, and Korean, which
-- joins particles to them, are indexed by overlapping pairs of letters, as questions are taken apart
-- (memory/domain/text/words.py, PAIRED).
CREATE FUNCTION palimpsest_pairs(text text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT string_agg(CASE
        WHEN NOT is_paired THEN letter
        WHEN is_next_paired THEN letter || next || ' '
        WHEN is_last_paired THEN ' '
        ELSE ' ' || letter || ' '
    END, '' ORDER BY place)
    FROM (
        SELECT place, letter, is_paired, lead(letter) OVER line AS next,
            lead(is_paired) OVER line AS is_next_paired, lag(is_paired) OVER line AS is_last_paired
        FROM (
            SELECT place, letter, letter ~ '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]' AS is_paired
            FROM unnest(string_to_array(text, NULL)) WITH ORDINALITY AS letters (letter, place)
        ) AS told
        WINDOW line AS (ORDER BY place)
    ) AS letters
$$;
CREATE FUNCTION palimpsest_lexemes(text text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT to_tsvector('english', CASE
        WHEN text ~ '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]' THEN palimpsest_pairs(text) ELSE text END)
$$;
