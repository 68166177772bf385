"""Measures how well talk is understood without a language model: all figures by one command.

`python -m benchmarks.understanding [--set blind]` beside a running, migrated database. It prints

- pairs: what the judge says of labelled pairs, alone and through the whole write path;
- stores: what is retired and disputed as the memories of whole stores come in one by one;
- talk: what the reader keeps of labelled conversations, and for whom;
- forms: which form the reader gives labelled sentences;
- asks: natural ways to ask for remembering (importance 10 and a pin), and standing preferences;
- corrections: changes told in a later conversation, which must come before the old value;
- questions: plain questions that share no content word with their answer;
- cost: time on one core of a message, a pair and a question, and the memory of the models.

The models were trained on all files but those called blind. `--llm` scores JUDGE_MODEL and
EXTRACTION_MODEL on pairs and talk as well; `--verbose` prints what is wrong.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final
from uuid import UUID, uuid4

import psutil  # type: ignore[import-untyped]

from benchmarks.ground import Client, new_team, run_waiting, scope_of
from benchmarks.labelled_scores import (
    CONFLICTS,
    Json,
    read_conversation,
    read_lines,
    read_pairs,
    report_pairs,
    report_stored_pairs,
    report_talk,
    store_statement,
)
from memory.domain.types import Statement
from memory.models import Contradiction, Memory
from memory.understanding.judging import small_judge
from memory.understanding.quoting import QuotingExtractor, form_of
from memory.understanding.reading import FORMS
from memory.understanding.tools import configured_tools, default_tools

LABELLED: Final = Path(__file__).parent / "labelled"
FIRST: Final = 5


def pairs(*, is_stored: bool, asks_models: bool, is_verbose: bool) -> None:
    """Prints the judge's figures on the pairs that it was not trained on."""
    judges = [small_judge(), *([configured_tools().judge] if asks_models else [])]
    for name in ("blind4", "blind4_frames", "blind4_verbs"):
        found = read_pairs(LABELLED / "contradictions" / f"{name}.jsonl")
        for judge in judges:
            report_pairs(title=name, pairs=found, judge=judge, is_verbose=is_verbose)
        if is_stored:
            report_stored_pairs(title=name, pairs=found)


def talk(*, asks_models: bool, is_verbose: bool) -> None:
    """Prints the reader's figures on the conversations that it was not trained on."""
    for name in ("blind3", "blind4"):
        items = read_lines(LABELLED / "extraction" / f"{name}.jsonl")
        report_talk(title=name, extractor=QuotingExtractor(), items=items, is_verbose=is_verbose)
        if asks_models:
            report_talk(
                title=name,
                extractor=configured_tools().extractor,
                items=items,
                is_verbose=is_verbose,
                clock=time.perf_counter,
            )


def forms() -> None:
    """Prints how many sentences are told a form, and how many of these have it."""
    rows = read_lines(LABELLED / "forms" / "blind.jsonl")
    found = [(row["kind"], form_of(row["text"]) or "none") for row in rows]
    right = sum(kind == form for kind, form in found)
    print(f"forms of {len(rows)} sentences: {right / len(rows):.2f} right")
    for form in FORMS[1:]:
        told = [kind for kind, given in found if given == form]
        has = sum(kind == form for kind, _ in found)
        right = told.count(form)
        print(
            f"  {form}: of {len(told)} told {right / len(told):.2f} right, {right / has:.2f} found"
        )


def stores() -> None:
    """Prints what the write path retires and disputes in whole stores nobody trained on."""
    rows = read_lines(LABELLED / "stores" / "blind.jsonl")
    counts: Counter[str] = Counter()
    for story in sorted({row["story"] for row in rows}):
        viewer, keys = new_team("stores"), dict[UUID, str]()
        replaced, wrong = set[str](), set[frozenset[str]]()
        for row in (each for each in rows if each["story"] == story):
            at = datetime.fromisoformat(row["at"])
            said = Statement(content=row["content"], at=at, subject=row["subject"])
            keys.setdefault(store_statement(viewer, said).memory.pk, row["id"])
            replaced |= set(row["replaces"])
            wrong |= {frozenset((row["id"], each)) for each in row["replaces"] + row["disputes"]}
        with scope_of(viewer):
            retired = set(Memory.objects.filter(status="superseded").values_list("pk", flat=True))
            verdicts = [each.value for each in CONFLICTS]
            pairs = Contradiction.objects.filter(verdict__in=verdicts)
            found = {
                frozenset((keys[one], keys[other]))
                for one, other in pairs.values_list("memory_a", "memory_b")
            }
        counts += Counter(
            memories=len(keys),
            retired=len(retired),
            wrongly=sum(keys[each] not in replaced for each in retired),
            conflicts=len(found),
            right=len(found & wrong),
            labelled=len(wrong),
        )
    print(
        f"stores of {counts['memories']} memories: {counts['retired']} retired,"
        f" {counts['wrongly']} of them wrongly; {counts['conflicts']} conflicts,"
        f" {counts['right']} of them right, of {counts['labelled']} labelled"
    )


class Team:
    """A throwaway team with one agent, into which people talk through the HTTP API."""

    def __init__(self) -> None:
        self.viewer = new_team("understanding")
        self.client = Client(self.viewer)
        self.tools = default_tools()

    def hear(self, user: str, messages: Sequence[Json]) -> None:
        """Stores a conversation and extracts its memories."""
        conversation = self.client.post("conversations", agent="kyra", user=user)["id"]
        for message in messages:
            said = {"role": message["role"], "content": message["content"]}
            self.client.post(f"conversations/{conversation}/messages", messages=[said])
        self.client.post(f"conversations/{conversation}/close")
        run_waiting(viewer=self.viewer, tools=self.tools)

    def ask(self, user: str, question: str) -> tuple[list[str], str]:
        """Returns the texts retrieved for a question, best first, and the prompt, in lower case."""
        answer = self.client.post(
            "retrieve", query=question, agent="kyra", user=user, **{"return": "full"}
        )
        found = sorted([*answer["memories"], *answer["messages"]], key=lambda each: -each["score"])
        return [each["content"].lower() for each in found], answer["formatted_prompt"].lower()


def asks() -> None:
    """Prints how many requests to remember are pinned, and how many preferences are kept."""
    rows = read_lines(LABELLED / "corrections" / "asks.jsonl")
    kept: Counter[str] = Counter()
    for row in rows:
        team = Team()
        text = row.get("message") or row["preference"]
        team.hear("sarah", [{"role": "user", "content": text}])
        with scope_of(team.viewer):
            memories = list(Memory.objects.filter(team_id=team.viewer.team_id))
        if "message" in row:
            kept["asked"] += any(each.importance == 10 and each.is_pinned for each in memories)
        else:
            kept["preferences"] += bool(memories)
    wanted = sum("message" in row for row in rows)
    print(f"asked to remember: {kept['asked']} of {wanted} pinned with importance 10")
    print(f"standing preferences: {kept['preferences']} of {len(rows) - wanted} kept")


def corrections(name: str) -> None:
    """Prints how many changes told later stand in the prompt, and before the old value."""
    rows = read_lines(LABELLED / "corrections" / f"{name}.jsonl")
    told = first = alone = 0
    for row in rows:
        team = Team()
        team.hear(row["user"], row["first"])
        team.hear(row["user"], row["second"])
        _, prompt = team.ask(row["user"], row["q"])
        new, old = (prompt.find(row[name]) for name in ("new", "old"))
        told += new >= 0
        first += new >= 0 and (old < 0 or new <= old)
        alone += new < 0 <= old
    print(
        f"corrections: of {len(rows)}, {told} in the prompt, {first} of them before the old value,"
        f" {alone} old ones alone"
    )


def questions(name: str) -> None:
    """Prints how many answers are among the first five, and in the prompt."""
    rows = read_lines(LABELLED / "questions" / f"{name}.jsonl")
    asked = first = in_prompt = 0
    for row in rows:
        team = Team()
        user = f"{row['user']}-{uuid4().hex[:4]}"
        team.hear(user, row["messages"])
        for question in row["questions"]:
            told, prompt = team.ask(user, question["q"])
            asked += 1
            first += any(question["needle"] in text for text in told[:FIRST])
            in_prompt += question["needle"] in prompt
    print(
        f"plain questions: of {asked}, {first / asked:.3f} among the first {FIRST},"
        f" {in_prompt / asked:.3f} in the prompt"
    )


def cost() -> None:
    """Prints the time of one core and the memory that the models take."""
    before = psutil.Process().memory_info().rss
    items = read_lines(LABELLED / "extraction" / "blind3.jsonl")
    messages, participants = read_conversation(items[0])
    judge, embedder = small_judge(), default_tools().embedder
    QuotingExtractor().extract(messages=messages, context=[], participants=participants)
    found = read_pairs(LABELLED / "contradictions" / "blind3.jsonl")[:100]
    statements = [(pair.existing, pair.new) for pair in found]
    judge.judge_all(statements[:8])
    embedder.embed(["warm"])
    loaded = psutil.Process().memory_info().rss
    began = time.process_time()
    judge.judge_all(statements)
    judged = time.process_time()
    for at in range(100):
        embedder.embed([f"{at} {statements[at][1].content}"])
    embedded = time.process_time()
    print(f"a pair {(judged - began) * 10:.1f} ms, a text {(embedded - judged) * 10:.1f} ms")
    print(f"the models take {(loaded - before) / 2**20:.0f} MiB of this process")


def main() -> None:
    """Prints what the command line asks for, or everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", default="blind", help="which questions and corrections")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--stored", action="store_true", help="pairs through the write path too")
    parser.add_argument("--llm", action="store_true", help="the configured models as well")
    parser.add_argument("--verbose", action="store_true", help="print each failure")
    options = parser.parse_args()
    acts: dict[str, Callable[[], None]] = {
        "cost": cost,
        "pairs": lambda: pairs(
            is_stored=options.stored, asks_models=options.llm, is_verbose=options.verbose
        ),
        "stores": stores,
        "talk": lambda: talk(asks_models=options.llm, is_verbose=options.verbose),
        "forms": forms,
        "asks": asks,
        "corrections": lambda: corrections(options.set),
        "questions": lambda: questions(options.set),
    }
    for name, act in acts.items():
        if not options.only or name in options.only:
            act()


if __name__ == "__main__":
    main()
