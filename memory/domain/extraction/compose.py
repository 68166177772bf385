"""The walk through a conversation: each unit to where it belongs, with the context beside it."""

from __future__ import annotations

import re

from ..types import Role
from .admitting.admission import Admission
from .answering.answers import complete_answer
from .answering.proposals import Proposals
from .answering.replies import Replies, is_detail
from .answering.taken_up import TakenUp
from .asking import Asking
from .chat import FIRST_PASS, ChatListener
from .clauses import split_clauses
from .drafts import Draft, dated
from .fillers import is_rule_fragment
from .kinds.introductions import introductions
from .kinds.pins import points_back, split_pin
from .language.leads import strip_lead
from .language.subjects import with_subject
from .language.syntax import has_verb
from .language.trimming import trim
from .language.words import content_words
from .meant.acts import Act, act_of
from .meant.agents_words import is_agents_word
from .mixed import meant_clauses
from .openings import asks_of_other, without_reaction
from .requests import RequestFrame, as_wish, asks_for_none
from .telling import Telling
from .threads.dialogue import Unit
from .tool_talk import ToolTalk
from .writer import ClauseWriter

_WANTS_DONE = re.compile(
    r"^(?:i['’]d\slike|i\swould\slike|i\s(?:need|want|have))\sto\s(?:book|order|reserve|schedule|"
    r"cancel|return|rent|hire|register|move|reschedule|change|renew|exchange|extend|postpone)\b",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve)\b", re.I)
_OWN_SUBJECT = re.compile(
    r"(?:(?:but|though|because|as|since)\s)?(?:(?:i|it|we)(?:['’](?:m|s|re|ve|ll|d))?|my)\s|"
    r"(?:but|though|because|as|since)\s(?:he|she|they)(?:['’](?:s|re|ll|ve))?\s",
    re.IGNORECASE,
)
_BUT_HE = re.compile(
    r"(?:but|though|because|as|since)\s(?:he|she)(?P<clitic>['’]s)?\s", re.IGNORECASE
)
# A message with more than so many memories may lose some of them to the cap of a turn.
_ROOM = 3
# So many words tell something, though none of them is a verb.
_TELLS_BY_ITSELF = 5
# "In 2015, in my first flat": of what, only the question says.
_ANSWERS = re.compile(r"\d|(?:in|on|at|with|from|since|around|about|by|for|to)\s", re.IGNORECASE)
_FORGIVEN = frozenset({Act.GUESS, Act.QUOTE, Act.SMALL_TALK, Act.HYPOTHETICAL})
# Of which what is said may be worth keeping all the same; never what is imagined or quoted.
_WEIGHED = frozenset({Act.SMALL_TALK})


class Walk:
    """One pass over the units of one conversation; holds what earlier sentences established."""

    def __init__(self, *, units: list[Unit], admission: Admission, agent: str = "") -> None:
        self._units = units
        speakers = {unit.voice.name for unit in units} | {agent} - {""}
        self._writer = ClauseWriter(speakers=frozenset(speakers), admission=admission)
        self._tools = ToolTalk(writer=self._writer)
        self._frame = RequestFrame()
        self._asking = Asking(writer=self._writer, frame=self._frame)
        self._telling = Telling(writer=self._writer, asking=self._asking)
        self._chat = ChatListener(threshold=FIRST_PASS)
        self._pin_next = -1
        self._asked_by_user: Unit | None = None
        self._proposals = Proposals(frame=self._frame)
        self._replies = Replies(writer=self._writer, frame=self._frame)
        self._taken_up = TakenUp(writer=self._writer, frame=self._frame)

    def drafts(self) -> list[Draft]:
        """All drafts of the conversation in order."""
        heard: list[Draft] = []
        for unit in self._units:
            if unit.role is Role.TOOL:
                self._tools.observe(unit=unit)
            elif unit.role is Role.USER and unit.chat:
                heard += self._chat.listen(unit)
            elif unit.role is Role.USER:
                self._user(unit)
            elif unit.role is Role.ASSISTANT:
                self._proposals.hear(unit=unit)
                self._replies.hear(unit=unit)
                self._taken_up.hear(unit=unit)
                self._tools.report(unit=unit)
        self._asking.close()
        self._writer.ledger.join_where_crowded(room=_ROOM)
        heard += self._chat.finish()
        return [dated(draft) for draft in [*self._writer.ledger.all(), *heard]]

    def _user(self, unit: Unit) -> None:
        self._tools.forget(turn=unit.turn)
        act = act_of(text=unit.text, chat=False)
        if act is Act.COMMAND:
            return
        if self._proposals.accepts(unit=unit) or self._replies.affirms(unit=unit):
            return
        if self._taken_up.adopts(unit=unit, asked=self._asked_by_user):
            return
        if unit.question and unit.question_id and not unit.place:
            self._writer.focus.asked_about(
                question=unit.question,
                source=unit.question_id,
                turn=unit.turn - 1,
                owner=unit.voice.name,
            )
        bare = strip_lead(text=unit.text)
        if self._tools.confirms(unit=unit, text=bare):
            return
        if unit.question and self._taken_up.welcomes(unit=unit, text=trim(text=bare)):
            return
        pinned, text = self._pin(unit, bare)
        if pinned and is_agents_word(text=strip_lead(text=text)):
            return
        if not pinned and self._asking.is_about_work(unit=unit, text=bare):
            return
        text, headed = self._writer.focus.strip_heading(
            text=text, source=unit.message_id, turn=unit.turn
        )
        text = with_subject(
            text=without_reaction(text=trim(text=text)),
            of_other=asks_of_other(question=unit.question),
        )
        if not text:
            return
        if (pinned or act is not Act.QUESTION) and text != bare.strip(" ,;-–—"):
            act = act_of(text=text, chat=False)
            act = Act.STATEMENT if pinned and act in _FORGIVEN else act
        if act is Act.STATEMENT and _WANTS_DONE.match(text) and len(split_clauses(text=text)) == 1:
            act = Act.REQUEST
        meant = () if pinned else meant_clauses(text=text, act=act)
        if meant and not text.startswith(meant[0]):
            self._writer.observe(unit=unit, text=text[: text.find(meant[0])])
        for clause in meant:
            self._telling.state(unit=unit, text=clause)
        told = act in {Act.STATEMENT, Act.FRAGMENT}
        told = told and not (unit.place and asks_for_none(text=bare))
        if act is Act.QUESTION and not unit.question:
            self._asked_by_user = unit
        own = self._asked_by_user
        waits = own is not None and unit.turn - own.turn == 2 and not unit.question
        if (
            own is not None
            and waits
            and act in {Act.FRAGMENT, Act.STATEMENT}
            and self._replies.answers_own(unit=unit, asked=own, text=text)
        ):
            return
        asked = told and unit.question and unit.place <= 1 and not headed
        if asked and act is Act.STATEMENT:
            text, act = self._answered_first(unit, text)
        if not (asked and self._replies.answers(unit=unit, text=text, act=act)):
            fragment = headed and act is Act.FRAGMENT and _COUNTED.search(text)
            if fragment:
                self._writer.write(unit=unit, clause=text, pinned=pinned)
            elif not meant:
                self._sort(unit, bare, text, act, pinned)
        if asked and act is Act.FRAGMENT and not unit.place:
            self._writer.answered(unit=unit, answer=text)

    def _answered_first(self, unit: Unit, text: str) -> tuple[str, Act]:
        """Take the bare answer off "Twice a week, I'm a nurse"; returns what is left to do."""
        head, comma, tail = text.partition(", ")
        if (
            not comma
            or not 0 < len(content_words(head)) < 6
            or has_verb(text=head)
            or not _OWN_SUBJECT.match(tail)
            or act_of(text=head, chat=False) is not Act.FRAGMENT
            or not complete_answer(question=unit.question, answer=head)
            or not self._replies.answers(unit=unit, text=head, act=Act.FRAGMENT)
        ):
            return text, Act.STATEMENT
        self._writer.answered(unit=unit, answer=head)
        he = _BUT_HE.match(tail)
        if he and head[:1].isupper():
            tail = f"{head}{' is' if he.group('clitic') else ''} {tail[he.end() :]}"
        return tail, act_of(text=tail, chat=False)

    def _sort(self, unit: Unit, bare: str, text: str, act: Act, pinned: bool) -> None:
        """Send a sentence to what its act asks for."""
        speaker = unit.voice.name
        presents = act in {Act.FRAGMENT, Act.REQUEST}
        introduced = introductions(clause=text, speaker=speaker) if presents else []
        if asks_for_none(text=bare) and (unit.place or not unit.question):
            self._writer.write(unit=unit, clause=as_wish(text=bare), pinned=pinned, request=True)
        elif introduced and len(split_clauses(text=text)) == 1:
            self._writer.introduce(unit=unit, said=introduced)
        elif introduced or act is Act.STATEMENT:
            self._telling.state(unit=unit, text=text, pinned=pinned)
        elif act is Act.REQUEST:
            self._telling.ask(unit=unit, text=text, pinned=pinned)
        elif act in _WEIGHED:
            self._telling.state(unit=unit, text=text, pinned=pinned, act=act)
        elif act is Act.FRAGMENT and (pinned or is_rule_fragment(text=text)):
            self._writer.write(unit=unit, clause=text, pinned=pinned)
        elif (
            act is Act.FRAGMENT
            and len(content_words(text)) >= _TELLS_BY_ITSELF
            and not (unit.question and _ANSWERS.match(text))
        ):
            self._writer.write(unit=unit, clause=text, act=act)
        elif not (
            act is Act.FRAGMENT
            and unit.place
            and (is_detail(text=text) or self._writer.is_worth(unit=unit, fragment=text))
            and self._replies.details(unit=unit, text=text, reach=0)
        ):
            self._writer.observe(unit=unit, text=text)

    def _pin(self, unit: Unit, text: str) -> tuple[bool, str]:
        """Whether the user wants this kept, and the text without the words that say so."""
        pinned, rest = split_pin(text=text)
        if pinned and not rest:
            # "Remember that." speaks of what was just said, or of what comes next.
            ledger = self._writer.ledger
            back = unit.turn if unit.place else unit.turn - 2 if points_back(text=text) else -1
            if not ledger.pin_last(turn=back):
                self._pin_next = unit.turn
            return False, ""
        announced = self._pin_next == unit.turn
        self._pin_next = -1
        return pinned or announced, rest
