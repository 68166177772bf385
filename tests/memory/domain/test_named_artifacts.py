"""Links, commits, pull requests, ADRs and files that a text names."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.artifacts import MOST_ARTIFACTS, artifacts_in

LONG_HASH = "da39a3ee5e6b4b0d3255bfef95601890afd80709"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (
            "See [docs](https://docs.example.org/a_b), please.",
            ["link https://docs.example.org/a_b"],
        ),
        ("(https://example.org/x?y=1).", ["link https://example.org/x?y=1"]),
        (
            "https://git.example.org/acme/app/pull/42",
            ["link https://git.example.org/acme/app/pull/42", "pr #42"],
        ),
        ("Reverted commit abc1234, merged in 4f2a9bc1.", ["commit abc1234"]),
        ("commit:abc1234", ["commit abc1234"]),
        (
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            [f"commit {'da39a3ee5e6b4b0d3255bfef95601890afd80709'}"],
        ),
        ("The token abc1234 and a facade.", []),
        ("PR #9, pull request 10, PR#11 and MR-12", ["pr #9", "pr #10", "pr #11", "pr #12"]),
        ("See ADR-012 and ADR 7.", ["adr ADR-012", "adr ADR-7"]),
        ("`src/auth/login.ts:42` and ./run.sh", ["file src/auth/login.ts", "file run.sh"]),
        ("README.md, .github/ci.yml", ["file README.md", "file .github/ci.yml"]),
        ("Python 3.11, e.g. and/or 1/2 example.com/x.html 24/7.", []),
        ("https://[masked]/x https://", []),
    ],
)
def test_what_a_text_names(text: str, named: list[str]) -> None:
    assert [f"{kind} {ref}" for _, kind, ref in artifacts_in([text])] == named


def test_each_is_named_once_by_the_first_text_and_only_so_many() -> None:
    texts = ["b.py", "a.py b.py", " ".join(f"f{number}.py" for number in range(200))]

    found = artifacts_in(texts)

    assert [(number, ref) for number, _, ref in found[:3]] == [
        (0, "b.py"),
        (1, "a.py"),
        (2, "f0.py"),
    ]
    assert len(found) == MOST_ARTIFACTS


@given(st.text(alphabet="ab/.#:-()[]<> \nhtps1", max_size=300))
def test_any_text_is_read(text: str) -> None:
    for number, _, ref in artifacts_in([text]):
        assert number == 0
        assert ref in text or ref.startswith(("#", "ADR-"))


@pytest.mark.parametrize(
    "piece", ["a/", "(", "https://x/pull/", "# -", "commit ", "a.b:", "[masked]"]
)
def test_the_work_grows_with_the_length_of_the_text(piece: str) -> None:
    def steps(count: int) -> int:
        done = 0

        def count_calls(frame: object, event: str, argument: object) -> None:
            nonlocal done
            done += event in ("call", "c_call")

        text = piece * count
        sys.setprofile(count_calls)
        try:
            artifacts_in([text])
        finally:
            sys.setprofile(None)
        return done

    assert steps(4_000) <= 4.5 * steps(1_000)
