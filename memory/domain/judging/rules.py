"""The judge by rules: weighs the evidence of a pair and says in words what decided."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from ..letter_case import other_case
from ..types import Judgement, Statement, Verdict
from .pairs.apart import stands_apart
from .pairs.beside import other_doing, told_beside
from .pairs.bygone import adds_nothing, is_denied_now, is_named_over, may_be_bygone
from .pairs.called import on_called
from .pairs.change_words import change_word
from .pairs.clauses import clause_texts, untold_clause
from .pairs.common_ground import is_common
from .pairs.compatible import excludes_nothing
from .pairs.doings import on_choices, on_doings
from .pairs.evidence import Evidence, weigh
from .pairs.features import features_of
from .pairs.handing_over import on_handover
from .pairs.kin_pairs import two_bonds
from .pairs.lasting import is_lasting
from .pairs.needs import opposed_needs
from .pairs.of_a_part import may_be_of_a_part
from .pairs.of_its_object import told_of_object
from .pairs.opposed import denied_at_large
from .pairs.patterns import strangers
from .pairs.repeats import subject_alone, told_otherwise
from .pairs.replacements import goes_on_from, two_replacements
from .pairs.replacing import may_take_place, replaced_by, takes_place
from .pairs.roles import turned_round
from .pairs.sayings import told_by_one
from .pairs.superlatives import on_superlative
from .pairs.turns import turns_unmet
from .pairs.undone import undone_no_more
from .presenting import by_one_name, says_who
from .reading.frames import read
from .reading.tokens import MAX_CHARS, MAX_TOKENS, fold
from .reasons import reason_for
from .turned import on_turned
from .weights import WEIGHTS

# A wrong "duplicate" loses a fact, so that it takes more than being the likeliest of four.
SURE_OF_DUPLICATE = 0.55
# A wrong "supersede" retires a fact: what nothing in the words says has changed must be likely.
SURE_OF_SUPERSEDE = 0.55
SURE_OF_BYGONE = 0.6
SURE_OF_CLAUSE = 0.7
# A conflict of which no finding says what parts the two is a guess.
UNNAMED = 0.4
# One that meets the other in nothing but what both are about.
STRAY = 0.3
_UNKNOWN_KIND = "a change, perhaps of something else, nothing says which holds"
_CONFLICTS = (Verdict.SUPERSEDE, Verdict.DISPUTE)
_VERDICTS = (Verdict.SUPERSEDE, Verdict.DISPUTE, Verdict.COEXIST, Verdict.DUPLICATE)


class RulesJudge:
    """A `Judge` without a language model; deterministic and safe to share between threads.

    `weights` give each feature of `features_of` its say in the four verdicts, in the order
    supersede, dispute, coexist, duplicate; without them the fitted ones of `weights.py` hold.
    """

    name = "rules"

    def __init__(
        self, *, weights: Mapping[str, tuple[float, float, float, float]] = WEIGHTS
    ) -> None:
        self._weights = weights

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """The verdict on the pair with its reason.

        The confidence is the share of the evidence, at most UNNAMED for a conflict of which
        nothing says what parts the two.
        """
        if _plain(existing.content) == _plain(new.content):
            return _of_same_words(existing.content, new.content)
        adds_who = says_who(existing=existing, new=new)
        existing, new = by_one_name(existing, new)
        judgement = self._by_one_name(existing=existing, new=new)
        if adds_who and judgement.verdict is Verdict.DUPLICATE:
            return Judgement(Verdict.COEXIST, "the same, and who that is", 0.8)
        return judgement

    def _by_one_name(self, *, existing: Statement, new: Statement) -> Judgement:
        """The verdict on two statements that speak of whom they are about in one way."""
        if _plain(existing.content) == _plain(new.content):
            return _of_same_words(existing.content, new.content)
        apart = strangers(existing.content, new.content)
        if apart:
            # No weight of anything else makes a conflict of these.
            return Judgement(Verdict.COEXIST, f"different subjects: {apart}", 0.95)
        judgement = self._judge(existing=existing, new=new)
        if judgement.verdict is Verdict.SUPERSEDE:
            evidence = weigh(existing, new)
            untold = untold_clause(evidence)
            beside = f'it says nothing of "{untold}"' if untold else may_be_of_a_part(evidence)
            if beside:
                why = f"{judgement.reason}; {beside}"
                return Judgement(Verdict.DISPUTE, why, judgement.confidence)
        if judgement.verdict is Verdict.COEXIST:
            return self._by_clause(existing=existing, new=new) or judgement
        return judgement

    def _by_clause(self, *, existing: Statement, new: Statement) -> Judgement | None:
        """The dispute with one clause of a statement that has several, or None."""
        for text in clause_texts(read(existing.content)):
            clause = replace(existing, content=text)
            judgement = self._judge(existing=clause, new=new)
            if judgement.verdict not in _CONFLICTS or judgement.confidence < SURE_OF_CLAUSE:
                continue
            evidence = weigh(clause, new)
            if evidence.signals.change or evidence.opposed or evidence.comparison.other_values:
                why = f'{judgement.reason}; of "{text}"'
                return Judgement(Verdict.DISPUTE, why, judgement.confidence)
        return None

    def _judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """The verdict on what is about one subject, whether or not all of it is spoken of."""
        evidence = weigh(existing, new)
        if evidence.corrects:
            return Judgement(Verdict.SUPERSEDE, reason_for(Verdict.SUPERSEDE, evidence), 0.95)
        apart = stands_apart(evidence)
        if apart:
            return Judgement(Verdict.COEXIST, apart, 0.8)
        done = on_doings(evidence) or on_choices(evidence) or on_superlative(evidence)
        if done is not None:
            verdict, why = done
            return Judgement(verdict, why, 0.8)
        needed = opposed_needs(evidence) or two_bonds(evidence)
        if needed:
            return Judgement(Verdict.DISPUTE, f"{needed}, nothing says which holds", 0.8)
        turned = turned_round(evidence.existing, evidence.new, evidence.comparison)
        if turned:
            return on_turned(turned, evidence)
        handed = on_handover(evidence)
        if handed is not None:
            verdict, why = handed
            if verdict is Verdict.SUPERSEDE:
                why = f'an explicit change ("{why}")'
            return Judgement(verdict, why, 0.9)
        named = on_called(evidence)
        if named is not None:
            verdict, why = named
            if verdict is Verdict.SUPERSEDE:
                why = f"an event that ends the state ({why})"
            elif verdict is Verdict.DISPUTE:
                why = f"an event that ends a part of it ({why})"
            return Judgement(verdict, why, 0.8)
        since = undone_no_more(evidence, existing_at=existing.at, new_at=new.at)
        if since:
            return Judgement(Verdict.SUPERSEDE, f'an explicit change ("{since}")', 0.9)
        two = two_replacements(evidence)
        if two:
            return Judgement(Verdict.DISPUTE, f"{two}, nothing says which holds", 0.8)
        word = replaced_by(evidence) or goes_on_from(evidence)
        if not word and (takes_place(evidence) or is_denied_now(evidence)):
            word = change_word(evidence.new)
        if word:
            return Judgement(Verdict.SUPERSEDE, f'an explicit change ("{word}")', 0.9)
        if may_take_place(evidence):
            return Judgement(Verdict.DISPUTE, _UNKNOWN_KIND, 0.7)
        shares = self._shares(features_of(evidence))
        verdict = max(_VERDICTS, key=lambda each: shares[each])
        beside = told_beside(evidence) if verdict is Verdict.DUPLICATE else ""
        if beside:
            return Judgement(Verdict.COEXIST, beside, 0.8)
        if verdict is Verdict.DUPLICATE and told_otherwise(evidence):
            verdict = max(_VERDICTS[:3], key=lambda each: shares[each])
        if verdict not in _CONFLICTS and self._is_bygone(evidence, existing=existing, new=new):
            return Judgement(Verdict.DISPUTE, "the earlier statement says that this is over", 0.8)
        if verdict is Verdict.COEXIST and not (evidence.elsewhere or evidence.signals.change):
            denied = denied_at_large(evidence.existing, evidence.new, evidence.comparison)
            if denied or evidence.posts:
                return Judgement(Verdict.DISPUTE, reason_for(Verdict.DISPUTE, evidence), 0.7)
        if verdict in _CONFLICTS:
            why = excludes_nothing(evidence)
            if why:
                return Judgement(Verdict.COEXIST, why, 0.8)
        if verdict is Verdict.DUPLICATE:
            if not (_is_read(existing) and _is_read(new)):
                return Judgement(
                    Verdict.COEXIST, "alike at the start, too long to read in full", 0.5
                )
            apart = told_by_one(evidence) or subject_alone(evidence)
            apart = apart or told_of_object(evidence) or other_doing(evidence)
            if apart:
                return Judgement(Verdict.COEXIST, apart, 0.8)
            if evidence.clash and not evidence.comparison.equal_values and not evidence.elsewhere:
                return Judgement(Verdict.DISPUTE, reason_for(Verdict.DISPUTE, evidence), 0.6)
            if shares[verdict] < SURE_OF_DUPLICATE:
                return Judgement(Verdict.COEXIST, "alike, and perhaps not the same", 0.5)
        share = shares[verdict]
        is_told = bool(evidence.signals.change or evidence.ending)
        unsure = (share < SURE_OF_SUPERSEDE and not is_told) or turns_unmet(evidence)
        if verdict is Verdict.SUPERSEDE and (unsure or is_lasting(evidence.existing)):
            verdict = Verdict.DISPUTE
        if verdict in _CONFLICTS and not is_common(evidence):
            share = min(share, STRAY)
        if not _names_reason(verdict, evidence):
            share = min(share, UNNAMED)
        return Judgement(verdict, reason_for(verdict, evidence), round(share, 3))

    def _is_bygone(self, evidence: Evidence, *, existing: Statement, new: Statement) -> bool:
        """Whether the existing statement would replace the new one, had it come later."""
        if not may_be_bygone(evidence):
            return False
        turned = weigh(new, existing)
        if is_named_over(turned):
            return True
        if excludes_nothing(turned):
            return False
        shares = self._shares(features_of(turned))
        return shares[Verdict.SUPERSEDE] >= SURE_OF_BYGONE and adds_nothing(evidence)

    def _shares(self, features: Mapping[str, float]) -> dict[Verdict, float]:
        """The share of the evidence that the weights give each verdict; they sum to 1."""
        scores = [0.0, 0.0, 0.0, 0.0]
        for feature, value in features.items():
            for place, weight in enumerate(self._weights.get(feature, ())):
                scores[place] += weight * value
        top = max(scores)
        odds = [math.exp(score - top) for score in scores]
        return dict(zip(_VERDICTS, (odd / sum(odds) for odd in odds), strict=True))


def _names_reason(verdict: Verdict, evidence: Evidence) -> bool:
    """Whether a finding stands behind the verdict, if it is a conflict."""
    signals, c = evidence.signals, evidence.comparison
    if verdict is Verdict.SUPERSEDE:
        return bool(signals.correction or signals.change or signals.weak or evidence.ending)
    if verdict is Verdict.DISPUTE:
        return bool(c.other_values or c.oppositions or c.polarity or evidence.clash)
    return True


def _plain(text: str) -> str:
    return " ".join(fold(text).casefold().split()).rstrip(".!")


def _of_same_words(existing: str, new: str) -> Judgement:
    """The verdict where nothing but capitals can differ: "Polish", "polish"; "5 MB", "5 Mb"."""
    apart = other_case(existing, new)
    if apart is None:
        return Judgement(Verdict.DUPLICATE, "the same words", 1.0)
    if apart.is_unit:
        why = f"another unit: {apart.one} / {apart.other}, nothing says which holds"
        return Judgement(Verdict.DISPUTE, why, 0.8)
    return Judgement(Verdict.COEXIST, f"another word: {apart.one} / {apart.other}", 0.8)


def _is_read(statement: Statement) -> bool:
    """Whether the whole text is short enough to be read."""
    return len(statement.content) <= MAX_CHARS and len(statement.content.split()) < MAX_TOKENS // 2
