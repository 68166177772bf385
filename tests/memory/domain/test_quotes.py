"""A model's verdict counts as far as what it quotes of the two statements bears it out."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.quotes import Quoted, held_to_quotes
from memory.domain.types import Judgement, Verdict

BERLIN = "Sarah lives in Berlin."
OSLO = "Sarah has moved to Oslo."


def held(
    verdict: Verdict,
    quoted: Quoted,
    *,
    existing: str = BERLIN,
    new: str = OSLO,
    is_change_told: bool = False,
) -> Verdict:
    return held_to_quotes(
        Judgement(verdict, "so it seems", 0.9),
        existing=existing,
        new=new,
        quoted=quoted,
        is_change_told=is_change_told,
    ).verdict


def test_a_conflict_that_is_quoted_stands() -> None:
    assert held(Verdict.DISPUTE, Quoted("Berlin", "Oslo")) is Verdict.DISPUTE
    assert held(Verdict.SUPERSEDE, Quoted(" berlin", "“Oslo”", "moved")) is Verdict.SUPERSEDE


@pytest.mark.parametrize("verdict", [Verdict.SUPERSEDE, Verdict.DISPUTE])
@pytest.mark.parametrize(
    "quoted",
    [
        Quoted("", "", "moved"),
        Quoted("Berlin", "", "moved"),
        Quoted("Berlin", "Bergen", "moved"),
        Quoted("Oslo", "Berlin", "moved"),
        Quoted("Sarah", "Sarah", "moved"),
        Quoted("Ber", "Os", "moved"),
        Quoted(".", "!", "moved"),
        Quoted(BERLIN, OSLO, "moved"),
    ],
    ids=[
        "nothing", "one", "invented", "exchanged", "the same", "no words", "no letters", "all of it"
    ],
)  # fmt: skip
def test_quotes_that_show_no_two_values_make_no_conflict(verdict: Verdict, quoted: Quoted) -> None:
    assert held(verdict, quoted, is_change_told=True) is Verdict.COEXIST


@pytest.mark.parametrize("change", ["", "no longer", "Oslo", "Sarah"])
def test_without_words_of_a_change_nothing_is_superseded(change: str) -> None:
    assert held(Verdict.SUPERSEDE, Quoted("Berlin", "Oslo", change)) is Verdict.DISPUTE


def test_who_knows_the_language_may_know_of_the_change() -> None:
    supersede = partial(
        held,
        Verdict.SUPERSEDE,
        Quoted("Berlin", "Oslo", "now"),
        existing="Sarah now lives in Berlin.",
        new="Sarah now lives in Oslo.",
    )

    assert supersede() is Verdict.DISPUTE
    assert supersede(is_change_told=True) is Verdict.SUPERSEDE


def test_languages_without_spaces_are_quoted_as_well() -> None:
    supersede = partial(
        held, Verdict.SUPERSEDE, existing="莎拉住在柏林。", new="莎拉已经搬到奥斯陆。"
    )

    assert supersede(Quoted("柏林", "奥斯陆", "搬到")) is Verdict.SUPERSEDE
    assert supersede(Quoted("柏林", "卑尔根", "搬到")) is Verdict.COEXIST


@given(st.sampled_from(list(Verdict)), st.builds(Quoted, st.text(), st.text(), st.text()))
def test_quotes_make_no_verdict_bolder(verdict: Verdict, quoted: Quoted) -> None:
    boldness = [Verdict.COEXIST, Verdict.DUPLICATE, Verdict.DISPUTE, Verdict.SUPERSEDE]

    assert boldness.index(held(verdict, quoted)) <= boldness.index(verdict)


@given(st.text(), st.text(), st.text())
def test_invented_quotes_retire_nothing(older: str, newer: str, change: str) -> None:
    marked = Quoted(f"{older} unheard-of", f"{newer} unheard-of", change)

    assert held(Verdict.SUPERSEDE, marked, is_change_told=True) is Verdict.COEXIST
