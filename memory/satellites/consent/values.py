"""Values of profile fields, and the clauses of a sentence that state them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, NamedTuple

from memory.domain.judgements import SURE_OF_REPETITION, without_opening
from memory.domain.text.words import normalise_text, split_sentences
from memory.domain.types import Statement, Verdict
from memory.understanding.judging import small_judge
from memory.understanding.quoting import KEPT_FROM, read_lines
from memory.understanding.reading import FIELDS, Line, ReadLine

# The judge reads no times.
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)
# Longer sentences are not cut, so that a hostile one takes bounded time.
_MOST_WORDS: Final = 60
# A rest of fewer words that sets no field is no statement.
_FEWEST_WORDS: Final = 3
# From this chance on that it is worth keeping the rest of a sentence is kept.
_REST_FROM: Final = 0.5
_MARKS: Final = ",;:–—"
# A field that the reader calls by other names.
_READ_AS: Final = {"name": {"preferred_name", "full_name"}}


def is_same_value(*, new: str, known: str, subject: str) -> bool:
    """Returns whether both give the field one value, by words or by the sure small model."""
    if normalise_text(without_opening(new)) == normalise_text(without_opening(known)):
        return True
    judgement = small_judge().judge(
        existing=Statement(known, _ANY_TIME, subject), new=Statement(new, _ANY_TIME, subject)
    )
    return judgement.verdict is Verdict.DUPLICATE and judgement.confidence >= SURE_OF_REPETITION


def states_value(*, question: str, answer: str, value: str) -> bool:
    """Returns whether the answer itself states the value; a yes alone states nothing."""
    if not any(each.endswith("?") for each in split_sentences(question)):
        return False
    wanted = normalise_text(value)
    said = split_sentences(answer)
    return any(
        wanted in (normalise_text(each), normalise_text(without_opening(each))) for each in said
    )


class _Cut(NamedTuple):
    """A sentence cut in two, the better the larger: at a clause's end, as read, and early."""

    ends: int
    kept: float
    place: int
    said: str
    rest: str


def field_of_text(text: str) -> str:
    """Returns the profile field that the text sets, "" for none."""
    return read_lines([Line(text=text)])[0].field


def sets_alone(text: str, *, field: str) -> bool:
    """Returns whether the text sets the profile field and says nothing else."""
    parted = [_parted(" ".join(each.split()), {field}) for each in split_sentences(text)]
    return bool(parted) and all(says and not rests for rests, says in parted)


def texts_beside(text: str, *, field: str) -> list[str]:
    """Returns the statements of a text beside what it says of the profile field, verbatim.

    Each sentence is read on its own, and cut between two words where the reader finds that one half
    sets the field and the other half says something else that is worth keeping. Of a field that the
    reader does not know, what sets another field is the rest.
    """
    wanted = _READ_AS.get(field, {field if field in FIELDS else ""})
    parted = [_parted(" ".join(each.split()), wanted) for each in split_sentences(text)]
    is_said = any(says for _, says in parted)
    return [rest for rests, _ in parted for rest in rests] if is_said else []


def _parted(sentence: str, wanted: set[str]) -> tuple[list[str], bool]:
    """Returns the rests of the sentence beside the fields, and whether it sets one of them."""
    words = sentence.split()
    places = range(1, len(words)) if len(words) <= _MOST_WORDS else ()
    halves = [(" ".join(words[:at]), " ".join(words[at:])) for at in places]
    # The reader knows speakers: "The user lives in Oslo" is read without whom it names as well.
    unnamed = [(" ".join(words[1:at]) or "-", " ".join(words[2:at]) or "-") for at in places]
    groups = [(*pair, *more) for pair, more in zip(halves, unnamed, strict=True)]
    lines = [Line(text=each) for each in (sentence, *(each for group in groups for each in group))]
    whole, *read = read_lines(lines)
    cuts = []
    for place, texts in enumerate(halves):
        left, right, *without_name = read[4 * place : 4 * place + 4]
        told = next((each for each in (left, *without_name) if _sets(each, wanted)), left)
        cuts += _cuts(texts, (told, right), wanted)
    if cuts:
        best = max(cuts)
        further, _ = _parted(best.said, wanted)
        return [best.rest, *further], True
    says = whole.field in wanted or any(_sets(each, wanted) for each in read)
    return ([] if says else [sentence]), says


def _cuts(texts: tuple[str, str], found: tuple[ReadLine, ReadLine], wanted: set[str]) -> list[_Cut]:
    """The cut between the halves by which the one sets a field and the other one is the rest."""
    is_marked = texts[0][-1] in _MARKS
    # A name stays with the words before it: "in | Oslo" is no end of a clause.
    is_end = is_marked or not texts[1][0].isupper()
    cuts = []
    for said, rest in ((0, 1), (1, 0)):
        other = found[rest]
        is_statement = other.field or (is_end and len(texts[rest].split()) >= _FEWEST_WORDS)
        is_kept = other.keep >= _REST_FROM and other.field not in wanted
        if is_kept and is_statement and _sets(found[said], wanted):
            kept = round(min(found[said].keep, other.keep), 1)
            text = texts[rest].rstrip(f" {_MARKS}")
            cuts.append(_Cut(is_marked + is_end, kept, -len(texts[0]), texts[said], text))
    return cuts


def _sets(read: ReadLine, wanted: set[str]) -> bool:
    return read.field in wanted and read.keep >= KEPT_FROM
