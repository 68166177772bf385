"""What people decided about a contradiction, in words."""

from __future__ import annotations

from datetime import UTC, datetime

A_WINS, B_WINS, BOTH_VALID, MERGED = "a_wins", "b_wins", "both_valid", "merged"

_OF_TWO = {
    A_WINS: "the earlier one stands",
    B_WINS: "the later one stands",
    BOTH_VALID: "both are valid",
    MERGED: "both were merged into one",
}
_OF_ONE = {
    A_WINS: "it stands",
    B_WINS: "it is wrong",
    BOTH_VALID: "it stands",
    MERGED: "it was corrected",
}


# As who says the losing words again is to read it, for whom the sides stand in another order.
_OF_AGAIN = {**_OF_TWO, A_WINS: "the other one stands", B_WINS: "the other one stands"}


def told_decision(
    *,
    resolution: str,
    is_of_two: bool,
    by: str,
    at: datetime,
    note: str,
    is_said_again: bool = False,
) -> str:
    """Who decided when, how and why: "decided on 2026-05-01 12:00 UTC by staff:rob: ... (why)".

    `is_of_two` is False where somebody only said that a memory is wrong; `is_said_again` where it
    is told of the words that lost. `at` is aware.
    """
    of_two = _OF_AGAIN if is_said_again else _OF_TWO
    how = (of_two if is_of_two else _OF_ONE)[resolution]
    when = at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"decided on {when} by {by}: {how}{f' ({note})' if note else ''}"
