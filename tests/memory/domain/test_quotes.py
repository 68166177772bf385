"""A model's supersession counts as far as it quotes what changed; no verdict gets bolder."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.talk import held_to_quotes
from memory.domain.types import Judgement, Verdict

BERLIN = "Sarah lives in Berlin."
OSLO = "Sarah has moved to Oslo."


def held(
    verdict: Verdict, older: str, newer: str, *, existing: str = BERLIN, new: str = OSLO
) -> Verdict:
    return held_to_quotes(
        Judgement(verdict, "so it seems", 0.9),
        existing=existing,
        new=new,
        older_value=older,
        newer_value=newer,
    ).verdict


def test_a_supersession_that_is_quoted_stands() -> None:
    assert held(Verdict.SUPERSEDE, " berlin", "“Oslo”") is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("", ""),
        ("Berlin", ""),
        ("Berlin", "Bergen"),
        ("Oslo", "Berlin"),
        ("Sarah", "Sarah"),
        ("Ber", "Os"),
        (".", "!"),
        (BERLIN, OSLO),
    ],
    ids=[
        "nothing", "one", "invented", "exchanged", "the same", "no words", "no letters", "all of it"
    ],
)  # fmt: skip
def test_a_supersession_without_two_values_is_a_dispute(older: str, newer: str) -> None:
    assert held(Verdict.SUPERSEDE, older, newer) is Verdict.DISPUTE


@pytest.mark.parametrize("verdict", [Verdict.DISPUTE, Verdict.COEXIST, Verdict.DUPLICATE])
def test_what_retires_nothing_needs_no_quotes(verdict: Verdict) -> None:
    assert held(verdict, "", "") is verdict


def test_languages_without_spaces_are_quoted_as_well() -> None:
    def supersede(older: str, newer: str) -> Verdict:
        return held(
            Verdict.SUPERSEDE, older, newer, existing="莎拉住在柏林。", new="莎拉已经搬到奥斯陆。"
        )

    assert supersede("柏林", "奥斯陆") is Verdict.SUPERSEDE
    assert supersede("柏林", "卑尔根") is Verdict.DISPUTE


@given(st.sampled_from(list(Verdict)), st.text(), st.text())
def test_quotes_make_no_verdict_bolder(verdict: Verdict, older: str, newer: str) -> None:
    boldness = [Verdict.COEXIST, Verdict.DUPLICATE, Verdict.DISPUTE, Verdict.SUPERSEDE]

    assert boldness.index(held(verdict, older, newer)) <= boldness.index(verdict)


@given(st.text(), st.text())
def test_invented_quotes_retire_nothing(older: str, newer: str) -> None:
    marked = (f"{older} unheard-of", f"{newer} unheard-of")

    assert held(Verdict.SUPERSEDE, *marked) is Verdict.DISPUTE
