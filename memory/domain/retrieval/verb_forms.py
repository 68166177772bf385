"""Forms of irregular verbs, which no stemmer leads to one word: "buy" and "bought"."""

from __future__ import annotations

from collections import defaultdict

from ..extraction.language.verbs import BASES
from ..judging.reading.tokens import IRREGULAR
from ..text import STOP_WORDS

# More would crowd out words of the question.
_MOST = 3


def _table() -> dict[str, tuple[str, ...]]:
    families: dict[str, list[str]] = defaultdict(list)
    for form, base in IRREGULAR.items():
        families[base].append(form)
    return {
        form: tuple(
            each for each in family if each != form and (each == base or _is_past(each, form))
        )[:_MOST]
        for base, family in families.items()
        if base in BASES and STOP_WORDS.isdisjoint(family)
        for form in family
    }


def _is_past(form: str, beside: str) -> bool:
    """Whether a form is a past that no stemmer leads to the other one."""
    return (
        form.isalpha()
        and not form.endswith(("ing", "s"))
        and not (form.startswith(beside) and form[len(beside) :] in {"ed", "d"})
    )


_FORMS = _table()


def other_forms(word: str) -> tuple[str, ...]:
    """Other forms of an irregular verb, casefolded; none for other words."""
    return _FORMS.get(word, ())
