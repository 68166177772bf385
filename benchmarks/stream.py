"""How often a mixed stream of checked writes retires or disputes what it should leave alone.

Run as ``python -m benchmarks.stream --locomo DIR [--verbose]`` beside a running, migrated database.
Into one team goes, as the product does it, the labelled talk, each conversation of its own user;
LoCoMo's talk, a user for each of its files; and beside them labelled pairs of statements: different
facts in one frame (the coexisting ones of frames.jsonl) and pairs that nothing was fitted on
(blind2.jsonl), whose conflicts should be found. The first statement of a pair is written before
the talk of its user, the second after it; pairs about "User" have users of their own.

Labels say what is wrong: a retirement or a dispute between memories of different pairs or
conversations, or of a pair that coexists or says the same twice, and the retirement of what a
labelled conversation should leave behind in favour of something else. What is found between two
memories of one conversation of LoCoMo is not labelled, and is counted by itself.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from django.utils import timezone

from benchmarks.contradictions import CONFLICTS, Pair, read_pairs, store_statement
from benchmarks.ground import ACTOR, Client, new_team, post_talk, run_waiting, scope_of
from benchmarks.locomo_data import read_sample
from memory.domain.types import Verdict
from memory.domain.viewer import Viewer
from memory.models import Contradiction, Memory
from memory.satellites.transfer.targets import ImportMode, ImportTarget
from memory.satellites.transfer.transcript_import import import_transcripts
from memory.satellites.transfer.transcripts import Transcript
from memory.services.write.drafts import Outcome
from memory.understanding.tools import Tools, default_tools
from teams.services.people import ensure_end_user

LABELLED = Path(__file__).parent / "labelled"
TALK = ("blind", "blind2", "home", "work")
SOURCES = ("pairs", "labelled talk", "LoCoMo")
AGENT = "listener"
# Some of the labelled talk is dated ahead; weekdays stay what they are.
_A_YEAR = timedelta(weeks=52)
Json = dict[str, Any]  # Any: JSON


@dataclass(frozen=True, slots=True)
class Finding:
    """A memory that was retired or disputed, what it met, and whether the labels allow it.

    `is_right` is None where no label says.
    """

    kind: str
    old: Memory
    new: Memory
    is_right: bool | None


@dataclass(slots=True)
class Stream:
    """The writes of one run into one team, and what their labels are."""

    viewer: Viewer
    tools: Tools
    pairs: dict[UUID, Pair] = field(default_factory=dict)
    talk: dict[str, Json] = field(default_factory=dict)
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    swallowed: list[Pair] = field(default_factory=list)

    def state(self, pair: Pair, *, is_new: bool, user: str) -> None:
        """Write one statement of a pair as somebody states it about the user."""
        with scope_of(self.viewer):
            person = ensure_end_user(team_id=self.viewer.team_id, external_id=user)
        statement = pair.new if is_new else pair.existing
        result = store_statement(self.viewer, statement, end_user_id=person.pk)
        self.outcomes[result.outcome] += 1
        if result.outcome is not Outcome.DUPLICATE:
            self.pairs[result.memory.pk] = pair
        elif pair.label is not Verdict.DUPLICATE or self.pairs.get(result.memory.pk) is not pair:
            self.swallowed.append(pair)

    def listen(self, client: Client, row: Json, user: str) -> None:
        """Let a labelled conversation be held and extracted."""
        began = datetime.fromisoformat(row["started_at"]) - _A_YEAR
        held = {"agent": AGENT, "user": user, "started_at": began.isoformat()}
        conversation = post_talk(client, row | held)
        self.talk[conversation] = row
        client.post(f"conversations/{conversation}/close")
        run_waiting(viewer=self.viewer, tools=self.tools)

    def load(self, transcripts: Sequence[Transcript], user: str) -> None:
        """Let the sessions of a LoCoMo file be held and extracted."""
        import_transcripts(
            target=ImportTarget(team_id=self.viewer.team_id, agent=AGENT, user=user),
            transcripts=transcripts,
            mode=ImportMode.MESSAGES,
            extract=True,
            tools=self.tools,
            actor=ACTOR,
            now=timezone.now(),
        )

    def findings(self) -> Iterator[Finding]:
        """Every retirement and dispute; call it in the team's scope."""
        own = {"team_id": self.viewer.team_id}
        for old in Memory.objects.filter(**own, superseded_by__isnull=False):
            assert old.superseded_by is not None
            yield Finding(
                "retirement", old, old.superseded_by, self._is_right(old, old.superseded_by)
            )
        disputes = Contradiction.objects.filter(**own, verdict=Verdict.DISPUTE)
        for each in disputes.select_related("memory_a", "memory_b"):
            if (old := each.memory_a) is not None and (new := each.memory_b) is not None:
                yield Finding("dispute", old, new, self._is_right(old, new))

    def _is_right(self, old: Memory, new: Memory) -> bool | None:
        pair = self.pairs.get(old.pk)
        if pair is not None or new.pk in self.pairs:
            return pair is self.pairs.get(new.pk) and pair is not None and pair.label in CONFLICTS
        if old.conversation_id != new.conversation_id:
            return False
        row = self.talk.get(str(old.conversation_id))
        if row is None:
            return None
        return all(_matches(gold, new) for gold in row["gold"] if _matches(gold, old))

    def source(self, memory: Memory) -> str:
        """Which part of the stream a memory came from."""
        if memory.conversation_id is None:
            return SOURCES[0]
        return SOURCES[1 if str(memory.conversation_id) in self.talk else 2]

    def found_conflicts(self, findings: Sequence[Finding]) -> set[str]:
        """The pairs in conflict that were found to be."""
        return {
            self.pairs[each.old.pk].id
            for each in findings
            if each.is_right and each.old.pk in self.pairs
        }


def _matches(gold: Json, memory: Memory) -> bool:
    return all(needle in memory.content.lower() for needle in gold["must_contain"])


def run(*, pairs: Sequence[Pair], talk: Sequence[Json], samples: Sequence[Path]) -> Stream:
    """Write everything into a new team."""
    tools = default_tools()
    viewer = new_team("stream")
    stream, client = Stream(viewer, tools), Client(viewer)
    users = [f"{row['id']}-{row['user']}" for row in talk] + [path.stem for path in samples]
    beside: dict[str, list[Pair]] = {user: [] for user in users}
    for number, pair in enumerate(pairs):
        is_own = "User" in pair.existing.content or "User" in pair.new.content
        beside.setdefault(pair.id if is_own else users[number % len(users)], []).append(pair)
    for number, (user, given) in enumerate(beside.items()):
        for pair in given:
            stream.state(pair, is_new=False, user=user)
        if number < len(talk):
            stream.listen(client, talk[number], user)
        elif number < len(users):
            sample = read_sample(path=samples[number - len(talk)], limit=0)
            stream.load(sample.transcripts, user)
        for pair in given:
            stream.state(pair, is_new=True, user=user)
    return stream


def report(stream: Stream, *, pairs: Sequence[Pair], verbose: bool) -> None:
    """Print wrong retirements and disputes beside the conflicts that were found."""
    with scope_of(stream.viewer):
        memories = Memory.objects.filter(team_id=stream.viewer.team_id)
        writes = Counter(map(stream.source, memories))
        findings = list(stream.findings())
        told = Counter((stream.source(each.new), each.kind, each.is_right) for each in findings)
        for source in (*SOURCES, "all"):
            print(f"{source}: {writes.total() if source == 'all' else writes[source]} writes")
            for kind, per in (("retirement", 200), ("dispute", 50)):
                wrong, right, unlabelled = (
                    sum(told[each, kind, is_right] for each in SOURCES if source in (each, "all"))
                    for is_right in (False, True, None)
                )
                share = per * wrong / (writes.total() if source == "all" else writes[source])
                print(
                    f"  {kind}s: {wrong} wrong ({share:.1f} in {per}), {right} right,"
                    f" {unlabelled} without a label"
                )
        conflicts = {pair.id for pair in pairs if pair.label in CONFLICTS}
        found = stream.found_conflicts(findings)
        print(f"conflicts found: {len(found)} of {len(conflicts)}")
        print(f"statements wrongly left out as repetitions: {len(stream.swallowed)}")
        for each in findings if verbose else ():
            if not each.is_right:
                label = "wrong" if each.is_right is False else "unlabelled"
                print(f"\n{label} {each.kind}\n  {each.old.content}\n  {each.new.content}")
        for pair in stream.swallowed if verbose else ():
            print(f"\nleft out ({pair.label})\n  {pair.existing.content}\n  {pair.new.content}")


def main() -> None:
    """Read the command line, write the stream and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locomo", type=Path, required=True, help="folder of the LoCoMo files")
    parser.add_argument("--verbose", action="store_true", help="print what is wrong")
    given = parser.parse_args()
    folder = LABELLED / "contradictions"
    frames = [pair for pair in read_pairs(path=folder / "frames.jsonl")
              if pair.label is Verdict.COEXIST]  # fmt: skip
    pairs = [*frames, *read_pairs(path=folder / "blind2.jsonl")]
    lines = (
        line
        for name in TALK
        for line in (LABELLED / "extraction" / f"{name}.jsonl").read_text("utf-8").splitlines()
    )
    stream = run(
        pairs=pairs,
        talk=[json.loads(line) for line in lines],
        samples=sorted(given.locomo.glob("*.json")),
    )
    report(stream, pairs=pairs, verbose=given.verbose)


if __name__ == "__main__":
    main()
