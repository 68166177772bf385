"""Clauses are kept and filed by what they show, and the reasons can be told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.extraction_fit import (
    fit_admission,
    fit_filing,
    trials_of,
    trials_of_clauses,
    type_of,
)
from memory.domain.extraction import RulesExtractor
from memory.domain.extraction.admitting.admission import Admission, Weighed
from memory.domain.extraction.admitting.evidence import Heard, evidence
from memory.domain.extraction.language.casual import written_out
from memory.domain.extraction.language.trimming import trim
from memory.domain.extraction.meant.acts import Act, act_of
from memory.domain.types import MemoryType

from .conversation import DANA, both_passes, talk, texts

CONVERSATIONS = Path(__file__).parent / "conversations_of_planning.jsonl"


class Listening(Admission):
    """Remembers what it weighed."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[Heard, Weighed]] = []

    def weigh(self, heard: Heard) -> Weighed:
        weighed = super().weigh(heard)
        self.heard.append((heard, weighed))
        return weighed


def weighed(*lines: str) -> list[tuple[Heard, Weighed]]:
    listening = Listening()
    extractor = RulesExtractor(admission=listening)
    extractor.extract(messages=talk(*lines), context=[], participants=DANA)
    return listening.heard


def test_what_is_refused_has_reasons() -> None:
    ((heard, verdict),) = weighed("user: My coffee has gone cold again, such a shame!")
    assert not verdict.kept
    assert verdict.against
    assert set(verdict.against) <= set(evidence(heard))


def test_the_agents_echo_speaks_for_a_clause() -> None:
    ((plain, without),) = weighed(
        "user: The kiln door sticks.", "assistant: Shall we plan the glaze order for Osprey next?"
    )
    ((echoed, with_echo),) = weighed(
        "user: The kiln door sticks.",
        "assistant: Noted, the kiln door sticks. Shall I call somebody?",
    )
    assert "no echo" in evidence(plain)
    assert "echoes" in evidence(echoed)
    assert with_echo.score > without.score


def test_evidence_is_named_once() -> None:
    for heard, _ in weighed("user: We sold 40 lamps on Monday and 12 on Tuesday to Osprey."):
        assert len(set(evidence(heard))) == len(evidence(heard))


def test_a_type_changes_only_where_the_evidence_clearly_differs() -> None:
    line = "user: The press stands in the hall."
    sure = Admission(types={"always": (0.0, 0.1, 0.0, 0.0)}, bar=-99.0)
    torn = Admission(types={"always": (0.0, 5.0, 0.0, 0.0)}, bar=-99.0)
    kinds = [
        RulesExtractor(admission=admission)
        .extract(messages=talk(line), context=[], participants=DANA)[0]
        .memory_type
        for admission in (sure, torn)
    ]
    assert kinds == [MemoryType.SEMANTIC, MemoryType.EPISODIC]


def test_what_the_user_wants_remembered_needs_no_evidence() -> None:
    nothing = RulesExtractor(admission=Admission(weights={}, bar=1.0))
    found = nothing.extract(
        messages=talk("user: Remember that the press stands in the hall."),
        context=[],
        participants=DANA,
    )
    assert [candidate.is_pinned for candidate in found] == [True]


def test_weights_are_fitted_from_labelled_talk(tmp_path: Path) -> None:
    lines = CONVERSATIONS.read_text(encoding="utf-8").splitlines()
    path = tmp_path / "clauses.txt"
    path.write_text(
        "-|My tea has gone cold.\n-|The bus smells of fish.\n-|My feet are cold.\n"
        "s|The lamp belongs to Osprey.\n",
        encoding="utf-8",
    )
    clauses = trials_of_clauses(path=path)
    assert [trial.kept for trial in clauses] == [False, False, False, True]
    trials = [trial for line in lines for trial in trials_of(item=json.loads(line))] + clauses
    weights, types = fit_admission(trials=trials), fit_filing(trials=trials)
    scores = [sum(weights.get(name, 0.0) for name in trial.evidence) for trial in trials]
    kept = [score for score, trial in zip(scores, trials, strict=True) if trial.kept]
    left = [score for score, trial in zip(scores, trials, strict=True) if not trial.kept]
    assert sum(kept) / len(kept) > sum(left) / len(left)
    right = [type_of(trial, types) == trial.memory_type for trial in trials if trial.kept]
    assert sum(right) > 0.7 * len(right)


@pytest.mark.parametrize(
    ("said", "act"),
    [
        ("We rack it off on Thursdays.", Act.STATEMENT),
        ("Mum decants the jam in the evening.", Act.STATEMENT),
        ("Olga refereed the final.", Act.STATEMENT),
        ("red wine from the Loire", Act.FRAGMENT),
        ("is chocolate really that bad for dogs", Act.QUESTION),
        ("Will comes on Friday.", Act.STATEMENT),
    ],
)
def test_a_verb_that_no_list_knows_is_known_by_its_place(said: str, act: Act) -> None:
    assert act_of(text=said, chat=False) is act


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("i dont eat fish pls", "I don't eat fish please"),
        ("shes here and im off", "she's here and I'm off"),
        ("Theres a leak", "There's a leak"),
        ("my ip is i.example and IM is down", "my ip is i.example and IM is down"),
        ("run main.i and a-i", "run main.i and a-i"),
    ],
)
def test_casual_spelling_is_written_out(typed: str, meant: str) -> None:
    assert written_out(text=typed) == meant


def test_casual_words_are_told_of_their_speaker() -> None:
    assert texts("user: i commute from Reading") == ["Dana commutes from Reading."]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "Jonte, the new apprentice, he's not to go up",
            "Jonte, the new apprentice, is not to go up",
        ),
        ("My sister, she runs a brewery", "My sister runs a brewery"),
        ("Yesterday, we moved", "Yesterday, we moved"),
        ("However, it rained", "However, it rained"),
    ],
)
def test_a_pronoun_that_picks_up_its_subject_goes(said: str, told: str) -> None:
    assert trim(text=said) == told


def test_an_answer_that_names_nothing_says_what_it_is_about() -> None:
    found = texts(
        "user: The Adler takes sixty rolls every morning.",
        "assistant: Sixty rolls. What is the delivery time?",
        "user: Half past five.",
    )
    assert found[-1] == "For Adler, the delivery time is at half past five."


def test_a_value_settled_at_the_end_of_a_correction_counts() -> None:
    found = texts(
        "user: We move on the 23rd.",
        "assistant: Noted.",
        "user: No hang on, the van is only free on the 30th, so it's the 30th.",
    )
    assert found == ["The team moves on March 30, 2026."]


def test_offering_to_write_something_down_is_no_decision() -> None:
    found = texts(
        "user: Engine two brings the long hoses to the market.",
        "assistant: Shall I put that into the dispatch notes?",
        "user: Do that.",
    )
    assert not [text for text in found if "dispatch" in text]


@pytest.mark.parametrize(
    "said",
    [
        "If the team moved to AWS the team would save 2,000 euros a month.",
        "If the Orion deal fell through, Karl would lose 40,000 euros.",
        "On March 4, 2026, Sam could have bought the flat in Rome.",
        "'I was born in Oslo on May 4,' said the man in the novel.",
        "Perhaps the release 2.4 of Orion slips to June 12.",
    ],
)
def test_names_and_figures_make_nothing_imagined_or_quoted_a_fact(said: str) -> None:
    assert both_passes(f"user: {said}") == []
