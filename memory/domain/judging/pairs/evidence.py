"""What is found on a pair: whether it is about one thing, what changed, where values part."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ...types import Statement
from ..reading.frames import Reading, Word, read
from ..reading.lexicon import VALUE_ROWS
from ..reading.tables import words
from .aspects import other_aspect
from .change import Signals, is_past_event, signals_of
from .compare import Comparison, compare
from .holders import two_holders
from .norms import norm_lifted
from .nouns import other_nouns, other_part, other_site
from .patterns import ending, other_agent, still_there, unlimited
from .scopes import other_scope
from .subjects import other_names, other_person, tells_birth
from .tellings import is_attitude
from .values import content_left, is_paraphrase, other_place, value_clash

_MULTI_LEAVES = words(
    "family children pets pet hobbies hobby skills languages tools travel health notes standard "
    "preference interests goals history projects team people customers users diet food calendar "
    "events"
)
_SINGLE_LEAVES = words(
    "city country employer company role title job job_title manager lead owner port region "
    "version status plan tier price budget deadline date due due_date name preferred_name "
    "birthday birthplace timezone time_zone spouse industry sector size contact provider vendor "
    "host database framework editor theme os color colour type kind model cause location address "
    "phone email pronouns gender nationality stage phase priority severity cadence schedule "
    "frequency limit threshold ttl timeout capacity age weight height blood_type degree school "
    "university profession home branch default ceo cfo cto head captain venue room start end "
    "launch_date release_date license licence currency target quota rate contract_value renewal "
    "broker"
)


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The findings on a pair; quotes are empty where nothing was found.

    `corrects` says that the new statement sets the existing one right.
    """

    existing: Reading
    new: Reading
    paths: tuple[str, str]
    comparison: Comparison
    signals: Signals
    before: Signals
    same_path: bool
    other_doer: bool
    other_names: str
    other_person: str
    other_scope: str
    other_nouns: str
    aspect: str
    touching: bool
    renewed: bool
    changed: bool
    corrects: bool
    ending: str
    clash: str
    goes_on: str
    posts: str
    places: str
    paraphrase: bool
    left_existing: tuple[Word, ...]
    left_new: tuple[Word, ...]

    @property
    def elsewhere(self) -> str:
        """Why the two are about different things or scopes, or ""."""
        return (
            self.other_names
            or self.other_person
            or self.other_scope
            or self.other_nouns
            or self.aspect
        )

    @property
    def opposed(self) -> bool:
        """Whether a word of one side excludes or denies one of the other."""
        return bool(self.comparison.oppositions or self.comparison.polarity or self.goes_on)


# Asked for whether two statements are related, and again by the judge.
@lru_cache(maxsize=256)
def weigh(existing: Statement, new: Statement) -> Evidence:
    """All findings on a pair."""
    e, n = read(existing.content), read(new.content)
    c = compare(e, n)
    signals, before = signals_of(n, recorded_at=existing.at), signals_of(e)
    path = same_path(existing, new)
    doer = other_agent(e, n, c)
    posts = two_holders(e, n, c)
    names = "" if doer or posts else other_names(e, n, c)
    goes_on = still_there(e, n, c)
    touching, renewed = touches(c), _renewed(e, n)
    linked = touching or path or (bool(c.fields) and not before.unreal)
    aside = signals.additive or signals.unreal or signals.temporary or before.past or before.unreal
    happened = is_past_event(n) or bool(signals.change) or tells_birth(n)
    ended = ending(e, n, happened=happened)
    ended = ended or norm_lifted(e, n, c)
    single = path and existing.subject.split(".")[-1] in _SINGLE_LEAVES
    return Evidence(
        existing=e,
        new=n,
        paths=(existing.subject, new.subject),
        comparison=c,
        signals=signals,
        before=before,
        same_path=path,
        other_doer=doer,
        other_names=names,
        other_person="" if ended and tells_birth(n) else other_person(e, n, c),
        other_scope=other_scope(e, n, c),
        other_nouns=""
        if doer or posts
        else other_nouns(e, n, c) or other_part(e, n, c) or other_site(e, n, c),
        aspect=other_aspect(e, n, c, new=signals, old=before, at=existing.at),
        touching=touching,
        renewed=renewed,
        changed=(bool(signals.change) and linked and not _is_no_change(e, n, signals, before))
        or renewed,
        corrects=bool(signals.correction) and not before.correction and linked and not names,
        ending=ended,
        clash=""
        if aside
        else posts
        or goes_on
        or unlimited(e, n, c)
        or value_clash(e, n, c, same_path=path, single=single),
        goes_on=goes_on,
        posts="" if aside else posts,
        places=other_place(e, n, c),
        paraphrase=not (c.oppositions or c.polarity or ended) and is_paraphrase(e, n, c),
        left_existing=tuple(content_left(e, c.left_existing, c)),
        left_new=tuple(content_left(n, c.left_new, c)),
    )


def _is_no_change(e: Reading, n: Reading, signals: Signals, before: Signals) -> bool:
    """Whether the words of change open something beside what was, or tell both alike.

    "The match ended 3:1", "the match ended 2:2". What one likes or fears, one deed does not end.
    """
    if _only_adds(signals) or (is_attitude(e) and signals.kinds == {"verb"}):
        return True
    verbs = e.tokens[e.verb_at : e.verb_at + 1], n.tokens[n.verb_at : n.verb_at + 1]
    alike = bool(verbs[0] and verbs[1]) and verbs[0][0].lower == verbs[1][0].lower
    return alike and bool(before.change) and signals.kinds | before.kinds <= {"verb", "phrasal"}


def _only_adds(signals: Signals) -> bool:
    """ "Since May he also referees": the date opens something beside what was."""
    return bool(signals.additive) and signals.kinds <= {"opening", "now", "new"}


def _renewed(e: Reading, n: Reading) -> bool:
    """ "The number is ...", "a new number: ...": the new of something already known."""
    known = {token.stem for token in e.tokens if not token.separator}
    if "new" in known:
        return False
    return any(
        token.lower == "new" and any(after.stem in known for after in n.tokens[i + 1 : i + 3])
        for i, token in enumerate(n.tokens)
    )


def touches(c: Comparison) -> bool:
    """Whether the new statement speaks of what the existing one says, not just of whom."""
    return bool(
        any(not a.is_name for a, _ in c.shared)
        or any(a.is_name and not a.in_subject for a, _ in c.shared)
        or c.oppositions
        or c.attributes
        or c.other_values
        or any(row in VALUE_ROWS for mark, _ in c.contrasts for row, _ in mark.ids)
    )


def same_path(existing: Statement, new: Statement) -> bool:
    """Whether both carry one subject path whose last part has one value at a time."""
    path = existing.subject
    return bool(path) and path == new.subject and path.split(".")[-1] not in _MULTI_LEAVES
