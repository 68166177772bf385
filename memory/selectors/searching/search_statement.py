"""What the statements that search memories and messages have in common: words, vectors, company.

The tables that are searched have equal columns; `entry` is the name of one of them, which is also
the alias that a compiled condition fits, and `key` its column of ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memory.domain.retrieval.surroundings import REACH

# How many each signal proposes (seed 000, step 3, and measured on conversations).
LIMITS = {
    "NEAR_LIMIT": 100,
    "LEXICAL_LIMIT": 100,
    "CORE_LIMIT": 30,
    "NEIGHBOURS_LIMIT": 20,
    "REACH": REACH,
}
# A term that more than this share of the entries holds says nothing and costs time; but among few
# entries every term is looked up.
FREQUENT_SHARE = 0.05
FREQUENT_FROM = 1_000
FREQUENT_AT_MOST = 3_000

# The vector is read from its text once and not for each entry, which in a plan for all parameters
# takes a subquery.
_SEARCHED = """
WITH asked AS MATERIALIZED (
    SELECT %(vector)s::float4[]::halfvec AS vector
), found AS MATERIALIZED (
    {found}
), counts AS MATERIALIZED (
    SELECT term, count(*) AS seen FROM found GROUP BY term
), rarities AS MATERIALIZED (
    SELECT term, seen, ln(1 + greatest(%(total)s::float8 - seen + 0.5, 0.5) / (seen + 0.5)) AS idf
    FROM counts
    WHERE seen < %(most)s::int OR NOT EXISTS (
        SELECT FROM counts WHERE seen > 0 AND seen < %(most)s::int
    )
), lexical AS MATERIALIZED (
    SELECT f.{key}, sum(r.idf) AS weight
    FROM found f JOIN rarities r USING (term) GROUP BY f.{key}
), near AS MATERIALIZED (
    {near}
), worded AS MATERIALIZED (
    SELECT {key}, weight / nullif((SELECT sum(idf) FROM rarities), 0) AS share FROM lexical
    ORDER BY weight DESC, {key} LIMIT {LEXICAL_LIMIT}
), hits AS MATERIALIZED (
    SELECT {key}, coalesce(w.share, 0) + coalesce(n.cosine, 0) AS promise
    FROM near n FULL JOIN worded w USING ({key})
), core AS MATERIALIZED (
    SELECT {key} FROM hits ORDER BY promise DESC, {key} LIMIT {CORE_LIMIT}
), around AS ({around})"""
# What counts of that which stands beside the best hits in their conversations.
AROUND = """
    SELECT n.{key}
    FROM core c
    CROSS JOIN LATERAL (
        SELECT * FROM {entry} o WHERE o.team_id = %(team)s AND o.{key} = c.{key} OFFSET 0
    ) AS e
    CROSS JOIN LATERAL (
        SELECT {entry}.{key} FROM (
            SELECT * FROM {entry} o
            WHERE o.team_id = %(team)s AND o.conversation_id = e.conversation_id
                AND o.position BETWEEN e.position - {REACH} AND e.position + {REACH}
            OFFSET 0
        ) AS {entry}
        WHERE {condition} LIMIT {NEIGHBOURS_LIMIT}
    ) n
"""
# Which of the terms each of `chosen` holds, as bits.
_HELD = """held AS MATERIALIZED (
    SELECT f.{key}, bit_or(1::bigint << (f.term - 1)) AS terms
    FROM found f JOIN chosen USING ({key})
    WHERE f.term IN (SELECT term FROM rarities) GROUP BY f.{key}
)"""
# The first columns tell of the question, in the first row only: each row would carry them along.
QUESTION = """
    CASE WHEN row_number() OVER () = 1 THEN (SELECT array_agg(term) FROM rarities) END,
    CASE WHEN row_number() OVER () = 1 THEN (SELECT array_agg(seen) FROM rarities) END,
    CASE WHEN row_number() OVER () = 1 THEN (SELECT array_agg(term) FROM counts) END,
    CASE WHEN row_number() OVER () = 1 THEN (
        SELECT array_agg(number) FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, number)
        WHERE length(to_tsvector('english', term)) = 0
    ) END"""
QUESTION_COLUMNS = 4
COSINE = """
    -((CASE %(model)s::text
        WHEN {entry}.embedding_model THEN {entry}.embedding
        WHEN {entry}.next_model THEN {entry}.next_embedding
    END) <#> (SELECT vector FROM asked))"""


def common_parts(
    *,
    entry: str,
    key: str,
    found: str,
    near: str,
    condition: str,
) -> dict[str, str]:
    """The parts of a statement by their names in it: searched, held, question and cosine.

    `found` selects term (from 1) and key of what holds a word, `near` key and cosine of what is
    closest to the vector, and `condition` is what holds for all that is searched.
    """
    names = {**LIMITS, "entry": entry, "key": key, "condition": condition}
    return {
        "searched": _SEARCHED.format(
            **names, found=found, near=near, around=AROUND.format(**names)
        ),
        "held": _HELD.format(**names),
        "question": QUESTION,
        "cosine": COSINE.format(**names),
    }


def most_of_a_term(total: int) -> int:
    """From how many of `total` entries on a term counts as frequent."""
    return min(max(FREQUENT_FROM, int(total * FREQUENT_SHARE)), FREQUENT_AT_MOST)


@dataclass(frozen=True, slots=True)
class Holding:
    """How many entries hold each term, from what every answer tells in its first row.

    A term that too many hold (`frequent`, by number from 0) counts as held by all. `without_lexeme`
    are the numbers of those that are no words. `only_frequent` says that nothing else was found.
    """

    counts: tuple[int, ...]
    frequent: frozenset[int]
    without_lexeme: frozenset[int]
    only_frequent: bool

    @classmethod
    def of(
        cls,
        rows: Sequence[tuple[Any, ...]],  # Any: columns of each type
        *,
        terms: Sequence[str],
        total: int,
        most: int,
    ) -> Holding:
        """What the rows tell of the terms; an empty term was not looked up, as a frequent one."""
        columns = rows[0][:QUESTION_COLUMNS] if rows else (None,) * QUESTION_COLUMNS
        numbers, counts, looked_up, no_words = (each or () for each in columns)
        counted = {number - 1: seen for number, seen in zip(numbers, counts, strict=True)}
        skipped = {number for number, term in enumerate(terms) if not term}
        frequent = frozenset(number - 1 for number in looked_up) - counted.keys() | skipped
        return cls(
            counts=tuple(
                total if number in frequent else counted.get(number, 0)
                for number in range(len(terms))
            ),
            frequent=frequent,
            without_lexeme=frozenset(number - 1 for number in no_words) - skipped,
            only_frequent=bool(counted) and min(counted.values()) >= most,
        )
