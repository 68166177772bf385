"""Reading JSON that a person wrote: every problem is noted with the place it stands at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches

# How alike a misspelt name and a known one are, of 1.
_ALIKE = 0.8


class DocumentError(ValueError):
    """A document that cannot be used; `problems` says what is wrong by place, "rules.always[2]"."""

    def __init__(self, problems: Mapping[str, list[str]]) -> None:
        place, said = next(iter(problems.items()))
        super().__init__(f"{place}: {said[0]}" if place else said[0])
        self.problems = dict(problems)


class Checked:
    """A JSON value at a place of a document; its readers note what is wrong and answer None.

    A missing value and null are the same: no value. All values of a document share `problems`.
    """

    def __init__(
        self, value: object, place: str = "", problems: dict[str, list[str]] | None = None
    ) -> None:
        self.value = value
        self.place = place
        self.problems: dict[str, list[str]] = {} if problems is None else problems

    def problem(self, words: str) -> None:
        """Note what is wrong with the value."""
        said = self.problems.setdefault(self.place, [])
        if words not in said:
            said.append(words)

    def raise_problems(self) -> None:
        """Raise DocumentError if anything was noted in the document."""
        if self.problems:
            raise DocumentError(self.problems)

    def fields(self, known: Sequence[str]) -> dict[str, Checked]:
        """An object's values by name, one for each of `known`; others are problems."""
        given = self.mapping()
        for name in given:
            if name not in known:
                self.at(name).problem(f"There is no such field; known are: {', '.join(known)}.")
        return {name: self.at(name, given.get(name)) for name in known}

    def mapping(self) -> dict[str, object]:
        """An object's values by name; empty for no value."""
        if self.value is None:
            return {}
        if not isinstance(self.value, Mapping):
            self.problem("Must be an object.")
            return {}
        return {str(name): value for name, value in self.value.items()}

    def at(self, name: str, value: object = None) -> Checked:
        """A value of this object."""
        return Checked(value, f"{self.place}.{name}" if self.place else name, self.problems)

    def items(self, *, most: int) -> list[Checked]:
        """A list's values; empty for no value."""
        if self.value is None:
            return []
        if not isinstance(self.value, list | tuple):
            self.problem("Must be a list.")
            return []
        if len(self.value) > most:
            self.problem(f"It has {len(self.value)} items and may have at most {most}.")
            return []
        return [
            Checked(value, f"{self.place}[{place}]", self.problems)
            for place, value in enumerate(self.value)
        ]

    def flag(self) -> bool | None:
        """true or false."""
        if self.value is None or isinstance(self.value, bool):
            return self.value
        self.problem("Must be true or false.")
        return None

    def whole(self, *, least: int, most: int) -> int | None:
        """A whole number."""
        if self.value is None:
            return None
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.problem("Must be a whole number.")
        elif not least <= self.value <= most:
            self.problem(f"Must be from {least} to {most}, not {_short(self.value)}.")
        else:
            return self.value
        return None

    def amount(self, *, most: Decimal, places: int, is_required: bool = False) -> Decimal | None:
        """A number from 0 to `most` with at most `places` decimals; texts are none."""
        if self.value is None:
            if is_required:
                self.problem("It is missing; give a number.")
            return None
        if isinstance(self.value, bool) or not isinstance(self.value, int | float | Decimal):
            self.problem("Must be a number.")
            return None
        amount = Decimal(str(self.value))
        if not amount.is_finite() or not 0 <= amount <= most:
            self.problem(f"Must be from 0 to {most}, not {_short(self.value)}.")
        elif amount != round(amount, places):
            self.problem(f"Must have at most {places} decimals.")
        else:
            return amount
        return None

    def choice(self, known: Sequence[str], *, is_required: bool = False) -> str | None:
        """One of some words."""
        if self.value is None and not is_required:
            return None
        if isinstance(self.value, str) and self.value in known:
            return self.value
        self.problem(f"Must be one of {', '.join(known)}.")
        return None

    def text(self, *, most: int) -> str | None:
        """A text of any lines, the white space around it counted and dropped; no value if empty."""
        if self.value is None:
            return None
        if not isinstance(self.value, str):
            self.problem("Must be a text.")
            return None
        if len(self.value) > most:
            self.problem(f"It has {len(self.value)} characters and may have at most {most}.")
            return None
        said = self.value.strip()
        if "\0" in said or any("\ud800" <= each <= "\udfff" for each in said):
            self.problem("Must be valid Unicode text without NUL.")
            return None
        return said or None

    def line(self, *, most: int, is_required: bool = False) -> str | None:
        """A text of one line."""
        said = self.text(most=most)
        if said is not None and not said.isprintable():
            self.problem("Must be one line without control characters.")
            return None
        is_empty = self.value is None or (isinstance(self.value, str) and not self.value.strip())
        if is_required and is_empty:
            self.problem("It is missing; give a text.")
        return said

    def lines(self, *, most: int, most_chars: int) -> tuple[str, ...]:
        """A list of texts of one line; a single text counts as a list of one."""
        if isinstance(self.value, str):
            said = self.line(most=most_chars)
            return (said,) if said else ()
        found = (item.line(most=most_chars, is_required=True) for item in self.items(most=most))
        return tuple(said for said in found if said)


def likely_meant(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` looks like a misspelling of, if any."""
    close = get_close_matches(name.casefold(), list(known), n=1, cutoff=_ALIKE)
    return close[0] if close else None


def _short(value: object) -> str:
    said = str(value)
    return said if len(said) <= 30 else f"{said[:27]}..."
