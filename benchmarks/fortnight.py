"""Measures the memory of two weeks of talk: six people, four agents, 36 conversations.

Run as ``python -m benchmarks.fortnight [--verbose]`` beside a running, migrated database. The talk
goes through the HTTP API in the order of time; each conversation is closed and extracted before
the next begins. Then `POST /v1/retrieve` is asked 100 questions, and four about confidences:

- same, other: a person asks the agent that was told, or another one;
- team: somebody else asks for what holds for the whole team;
- updated: right only where the present value comes before the outdated one;
- never: nobody said it; right where nothing is told but what is pinned or identity;
- confided: told in confidence; right where whoever else asks is not told.

The people are members of the team. Afterwards a guest asks all of it, and all of it is asked for
nobody; what the first are told, and what the second are told of one person alone, is counted.

A told memory or message answers if it holds the value and is of the conversation that told it; one
of the first five must. Baselines are the same questions to a team whose talk was kept and never
extracted: by the asker's agent, and with the messages of all agents and people ("whole team").
For each miss the part is named that lost the answer on its way: see `cause`.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.ground import Client, new_team, post_talk, run_waiting, scope_of, unsaid_words
from memory.domain.audience import Viewer
from memory.models import Memory, MessageEntry
from memory.models.memory import LIVE
from memory.models.querysets import heard_by_q
from memory.reading.questions import Depth, Read
from memory.reading.questions import Question as Asked
from memory.reading.retrieval import search
from memory.understanding.tools import Tools, default_tools
from teams.models import Agent, EndUser, Message, Role
from teams.services.people import change_person, ensure_end_user, set_person_role

LABELLED = Path(__file__).parent / "labelled" / "fortnight"
KINDS = ("same", "other", "team", "updated", "never", "confided")
FIRST = 5
Json = dict[str, Any]  # Any: JSON
GUEST = "guest-at-the-door"
WAYS = ("as told", "memories alone", "messages, asker's agent", "messages, whole team")


@dataclass(frozen=True, slots=True)
class Told:
    """A memory or message of an answer, and the conversation it is of."""

    text: str
    source: str
    is_memory: bool = False
    is_always_told: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the conversations that answer it, oldest first, and how to know the answer.

    Of each group in `answer` one alternative must be in a text. Of an update the last conversation
    tells the present value, and `outdated` are the words of the earlier ones.
    """

    id: str
    kind: str
    agent: str
    user: str
    question: str
    told_in: tuple[str, ...] = ()
    answer: tuple[tuple[str, ...], ...] = ()
    outdated: tuple[str, ...] = ()

    def answered_by(self, told: Told) -> bool:
        """Returns whether a retrieved text gives the (present) answer."""
        told_in = self.told_in[-1:] if self.kind == "updated" else self.told_in
        return told.source in told_in and all(_holds(told.text, group) for group in self.answer)

    def is_outdated(self, told: Told) -> bool:
        """Returns whether a retrieved text gives an outdated answer."""
        is_earlier = bool(self.outdated) and told.source in self.told_in[:-1]
        return is_earlier and _holds(told.text, self.outdated)


def rows_of(name: str) -> list[Json]:
    """The rows of a file of the data."""
    lines = (LABELLED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def read_questions() -> list[Question]:
    """The labelled questions."""
    rows = [
        row | {"answer": tuple(map(tuple, row.get("answer", ())))} for row in rows_of("questions")
    ]
    return [Question(**row) for row in rows]


def is_right(question: Question, told: Sequence[Told]) -> bool:
    """Returns whether the retrieved texts, best first, are the right answer."""
    if question.kind == "never":
        return all(each.is_always_told for each in told)
    if question.kind == "confided":
        return not any(question.answered_by(each) for each in told)
    for each in told[:FIRST]:
        if question.is_outdated(each):
            return False
        if question.answered_by(each):
            return True
    return False


def _holds(text: str, alternatives: Sequence[str]) -> bool:
    """Returns whether one of the alternatives is among the words of the text."""
    either = "|".join(map(re.escape, alternatives))
    return re.search(rf"(?<!\w)(?:{either})(?!\w)", text, re.IGNORECASE) is not None


@dataclass(slots=True)
class Town:
    """A team with the talk in it; `names` are those of its conversations in the data, by id."""

    viewer: Viewer
    client: Client
    names: dict[str, str] = field(default_factory=dict)

    def asker(self, question: Question) -> Viewer:
        """The viewer who asks it."""
        with scope_of(self.viewer):
            agent = Agent.objects.get(team_id=self.viewer.team_id, slug=question.agent)
            user = EndUser.objects.get(team_id=self.viewer.team_id, external_id=question.user)
        return Viewer(self.viewer.team_id, self.viewer.actor, agent.pk, user.pk)

    def read(self, question: Question, *, user: str | None = "") -> list[Told]:
        """Returns the agent's results, best first; `user` asks in place of the question's user."""
        body = {"query": question.question, "agent": question.agent, "user": user or question.user}
        if user is None:
            del body["user"]
        answer = self.client.post("retrieve", **body, **{"return": "full"})
        found = sorted([*answer["memories"], *answer["messages"]], key=lambda each: -each["score"])
        return [self._told(each) for each in found]

    def _told(self, each: Json) -> Told:
        is_memory = "memory_type" in each
        source = each["provenance"]["conversation"] if is_memory else each["conversation"]
        always = is_memory and (each["is_pinned"] or each["memory_type"] == "identity")
        return Told(each["content"], self.names.get(str(source), ""), is_memory, always)

    def search(self, question: Question, viewer: Viewer, tools: Tools) -> list[Told]:
        """The messages that a search finds, best first."""
        found = search(
            Read(
                viewer=viewer,
                question=Asked(question.question),
                depth=Depth(include_raw=True),
                limit=FIRST,
                tools=tools,
                now=datetime.now().astimezone(),
            )
        )
        return [Told(each.text, self.names[str(each.conversation_id)]) for each in found.messages]


def settle(*, is_extracted: bool, tools: Tools) -> Town:
    """A new team that went through the talk."""
    viewer = new_team("fortnight")
    town = Town(viewer, Client(viewer))
    with scope_of(viewer):
        set_person_role(team_id=viewer.team_id, role=Role.MEMBER)
        guest = ensure_end_user(team_id=viewer.team_id, external_id=GUEST)
        change_person(person=guest, role=Role.GUEST)
    for row in rows_of("talk"):
        conversation = post_talk(town.client, row)
        town.names[conversation] = row["id"]
        if is_extracted:
            town.client.post(f"conversations/{conversation}/close")
            run_waiting(viewer=viewer, tools=tools)
    return town


def cause(town: Town, question: Question, told: Sequence[Told]) -> str:
    """Names the step at which the answering memory, and the message, were lost to the asker."""
    asker = town.asker(question)
    with scope_of(asker):
        stored = Memory.objects.filter(team_id=asker.team_id)
        seen = stored.filter(status__in=LIVE).visible_to(asker)
        said = Message.objects.filter(team_id=asker.team_id)
        entries = MessageEntry.objects.filter(heard_by_q(asker))
        heard = said.filter(pk__in=entries.values("message_id"))
        distilled = {pk for each in seen for pk in each.source_message_ids}
        memory = _lost(town, question, [("never made", stored), ("not shown", seen)])
        message = _lost(
            town,
            question,
            [
                ("in no single one", said),
                ("not shown", heard),
                ("behind a memory", heard.exclude(pk__in=distilled)),
            ],
        )
    first = next((each for each in told[:FIRST] if question.is_outdated(each)), None)
    outdated = f"outdated {'memory' if first.is_memory else 'message'} first; " if first else ""
    return f"{outdated}memory {memory}; message {message}"


def _lost(town: Town, question: Question, way: Sequence[tuple[str, Iterable[Any]]]) -> str:
    """The first step of the way that the answer does not pass; Any: memories or messages."""
    for problem, rows in way:
        told = (Told(row.content, town.names.get(str(row.conversation_id), "")) for row in rows)
        if not any(map(question.answered_by, told)):
            return problem
    return "ranked low"


def report_questions(*, town: Town, kept: Town, tools: Tools, verbose: bool) -> None:
    """Print the shares of right answers by kind, and what the wrong ones come from."""
    questions = read_questions()
    asked = Counter(question.kind for question in questions)
    right: Counter[tuple[str, str]] = Counter()
    causes: Counter[tuple[str, str]] = Counter()
    items = 0
    for question in questions:
        told = town.read(question)
        items += len(told)
        ways = (
            told,
            [each for each in told if each.is_memory],
            kept.search(question, kept.asker(question), tools),
            kept.search(question, kept.viewer, tools),
        )
        for name, way in zip(WAYS, ways, strict=True):
            right[name, question.kind] += is_right(question, way)
        if question.kind != "never" and not is_right(question, told):
            why = cause(town, question, told)
            causes[question.kind, why] += 1
            if verbose:
                print(f"{question.id} {question.kind}: {question.question}\n   {why}")
                print("".join(f"   {each.source}: {each.text}\n" for each in told[:FIRST]))
    print(f"{'share of right answers':26}" + "".join(f"{kind:>10}" for kind in KINDS))
    for name in WAYS:
        shares = (right[name, kind] / asked[kind] for kind in KINDS)
        print(f"{name:26}" + "".join(f"{share:>10.2f}" for share in shares))
    print(f"{'questions':26}" + "".join(f"{asked[kind]:>10}" for kind in KINDS))
    print(f"memories and messages told for a question: {items / len(questions):.1f}")
    for (kind, why), count in sorted(causes.items(), key=lambda each: (each[0][0], -each[1])):
        print(f"{kind}: {count} x {why}")


def report_strangers(town: Town) -> None:
    """Print how many answers a guest is told, and how many are told where nobody is named."""
    asked = [each for each in read_questions() if each.kind in ("same", "other", "team")]
    told = sum(is_right(each, town.read(each, user=GUEST)) for each in asked)
    print(f"told to a guest: {told} of {len(asked)} answers of members")
    own = [each for each in asked if each.kind != "team"]
    for kind, rows in (("a person's", own), ("the team's", [e for e in asked if e.kind == "team"])):
        told = sum(is_right(each, town.read(each, user=None)) for each in rows)
        print(f"told for nobody: {told} of {len(rows)} answers to {kind} questions")


def report_invented(town: Town, *, verbose: bool) -> None:
    """Print how many memories hold what their messages do not."""
    with scope_of(town.viewer):
        own = {"team_id": town.viewer.team_id}
        memories = list(Memory.objects.filter(**own))
        said = dict(Message.objects.filter(**own).values_list("id", "content"))
        names = list(Agent.objects.filter(**own).values_list("slug", flat=True))
    found = {
        memory.content: words
        for memory in memories
        for sources in [[said[pk] for pk in memory.source_message_ids]]
        if (words := unsaid_words(memory.content, [*names, *sources]))
    }
    states = Counter(memory.status for memory in memories)
    print(f"{len(memories)} memories: {', '.join(f'{n} {state}' for state, n in states.items())}")
    print(f"{len(found)} of them with words that no message of theirs holds")
    for text, words in found.items() if verbose else ():
        print(f"   {' '.join(words)}: {text}")


def as_longmemeval() -> list[Json]:
    """Returns the questions that have an answer in LongMemEval's form, all over the whole talk.

    A message is evidence if it holds the answer and is of a conversation that answers the question.
    """
    rows = rows_of("talk")
    found = []
    for question in read_questions():
        if question.kind in ("never", "confided"):
            continue
        sessions = [
            [
                each
                | {
                    "has_answer": row["id"] in question.told_in
                    and any(_holds(each["content"], either) for either in question.answer)
                }
                for each in row["messages"]
            ]
            for row in rows
        ]
        found.append(
            {
                "question_id": question.id,
                "question": question.question,
                "haystack_session_ids": [row["id"] for row in rows],
                "haystack_dates": [
                    f"{datetime.fromisoformat(row['started_at']):%Y/%m/%d (%a) %H:%M}"
                    for row in rows
                ],
                "haystack_sessions": sessions,
            }
        )
    return found


def main() -> None:
    """Settle the talk, ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--longmemeval", type=Path, help="only write the set to this file in LongMemEval's form"
    )
    parser.add_argument("--verbose", action="store_true", help="print each miss and invention")
    given = parser.parse_args()
    if given.longmemeval:
        given.longmemeval.write_text(json.dumps(as_longmemeval()), encoding="utf-8")
        return
    tools = default_tools()
    town = settle(is_extracted=True, tools=tools)
    kept = settle(is_extracted=False, tools=tools)
    report_questions(town=town, kept=kept, tools=tools, verbose=given.verbose)
    report_strangers(town)
    report_invented(town, verbose=given.verbose)


if __name__ == "__main__":
    main()
