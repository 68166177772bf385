"""Does a consolidated store still answer, and how much smaller is it? LoCoMo with a moving clock.

Run as ``python -m benchmarks.forgetting --data DIR`` beside a running, migrated database without
workers, which would take its runs. Each conversation is replayed into two throwaway teams, session
by session as of its dates; one of them is consolidated every `--step-days` by that clock, and for
`--rest-days` after the last session. Of the questions, one in `--use` is asked once as soon as all
of its evidence was said, as real use, in both teams. In the end every question is asked of both:

- found: evidence is among the first 10 by default search, without what is cold;
- false forgetting: of the questions that the untended team finds, by its memories, those that the
  tended one does not. "hidden" where no default-searchable memory stands for the evidence any more,
  else "displaced": something else ranks before it;
- rows and tokens are those of the memories that default search reads.

The log keeps the real time of each change, which lies after the clock: each run takes all memories
for changed lately, and so looks at more than a real one.

``--pairs FILE`` adds how many duplicates a run removes, of labelled pairs (JSON lines as in
`benchmarks.contradictions`) and of memories of the first conversation to which paraphrases were
added; see `paraphrases`.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from celery import current_app

from benchmarks.forgetting_pairs import print_duplicates
from benchmarks.ground import ACTOR, new_team, scope_of
from benchmarks.locomo import AGENT, USER, turns_of
from benchmarks.locomo_data import Question, Sample, read_sample
from memory.domain.tokens import ESTIMATE
from memory.domain.types import Tier
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.satellites.lifecycle.models import ConsolidationRun
from memory.satellites.lifecycle.running import run_consolidation
from memory.satellites.lifecycle.runs import RUN_TASK, start_run
from memory.satellites.transfer.targets import ImportMode, ImportTarget
from memory.satellites.transfer.transcript_import import import_transcripts
from memory.services.indexing.levels import write_levels
from memory.services.indexing.message_index import index_team
from memory.services.indexing.statistics import renew_statistics
from memory.services.read.ranking import Question as Asked
from memory.services.read.retrieval import Read, search
from memory.services.read.search import Depth
from memory.services.read.usage import flush_noted_usage
from memory.understanding.tools import Tools, default_tools
from teams.domain.checking import DocumentError
from teams.domain.lifecycle_settings import check_lifecycle_settings
from teams.models import Agent, Team

FOUND_WITHIN = 10
WAYS = {"memories": False, "with messages": None}


@dataclass(slots=True)
class Store:
    """A team into which a conversation is replayed; `changes` counts what runs did, by step."""

    viewer: Viewer
    is_tended: bool
    changes: Counter[str] = field(default_factory=Counter)
    runs: int = 0

    @classmethod
    def of(cls, sample: Sample, *, is_tended: bool, chosen: Mapping[str, object]) -> Store:
        """A new team with these of its lifecycle settings."""
        viewer = new_team(f"forgetting-{sample.name}")
        with scope_of(viewer):
            Team.objects.filter(pk=viewer.team_id).update(lifecycle_settings=dict(chosen))
        return cls(viewer, is_tended)

    def asker(self) -> Viewer:
        """The agent that was told, on behalf of nobody."""
        with scope_of(self.viewer):
            agent = Agent.objects.get(team_id=self.viewer.team_id, slug=AGENT).pk
        return Viewer(self.viewer.team_id, ACTOR, agent_id=agent)

    def ask(
        self, question: Question, *, include_raw: bool | None, tools: Tools, now: datetime
    ) -> set[str]:
        """The turns that the first results stand for."""
        answer = search(
            Read(
                viewer=self.asker(),
                question=Asked(question.text),
                limit=FOUND_WITHIN,
                depth=Depth(include_cold=False, include_raw=include_raw),
                tools=tools,
                now=now,
            )
        )
        return {turn for each in answer.results[:FOUND_WITHIN] for turn in turns_of(each)}

    def tend(self, *, tools: Tools, now: datetime) -> None:
        """Consolidate it."""
        run = start_run(viewer=self.viewer, now=now)
        team_id = self.viewer.team_id
        run_consolidation(team_id=team_id, run_id=run.pk, tools=tools, clock=lambda: now)
        with scope_of(self.viewer):
            done = ConsolidationRun.objects.get(team_id=team_id, pk=run.pk)
        if done.state != ConsolidationRun.State.DONE:
            raise RuntimeError(f"The run is {done.state}: {done.error}")
        self.runs += 1
        for step, counts in done.counts.items():
            self.changes[step] += counts["made"]

    def searchable(self) -> list[Memory]:
        """What default search reads."""
        with scope_of(self.viewer):
            rows = Memory.objects.filter(team_id=self.viewer.team_id).live()
            return list(rows.exclude(tier=Tier.COLD.value))


def replay(
    *, sample: Sample, store: Store, steps: Sequence[datetime], use: int, tools: Tools
) -> None:
    """Tell it the sessions as of their dates, ask some of the questions, and tend it or not."""
    waiting = list(sample.transcripts)
    asked = list(sample.questions[::use]) if use else []
    said: set[str] = set()
    for now in steps:
        due = [each for each in waiting if _at(each.turns[0].created_at) <= now]
        waiting = waiting[len(due) :]
        if due:
            import_transcripts(
                target=ImportTarget(team_id=store.viewer.team_id, agent=AGENT, user=USER),
                transcripts=due,
                mode=ImportMode.MESSAGES,
                extract=True,
                tools=tools,
                actor=ACTOR,
                now=now,
            )
            index_team(team_id=store.viewer.team_id, tools=tools)
            write_levels(team_id=store.viewer.team_id, tools=tools)
        said |= {turn.external_id for each in due for turn in each.turns}
        for question in [each for each in asked if each.evidence <= said]:
            store.ask(question, include_raw=None, tools=tools, now=now)
            asked.remove(question)
        flush_noted_usage()
        if store.is_tended:
            store.tend(tools=tools, now=now)
    renew_statistics()


def _at(given: datetime | None) -> datetime:
    assert given is not None, "LoCoMo gives every turn a time"
    return given


def clock_of(sample: Sample, *, step_days: int, rest_days: int) -> list[datetime]:
    """The moments of the runs: from the first day to some days after the last session."""
    times = [_at(turn.created_at) for turn in sample.turns]
    now, end = min(times) + timedelta(days=1), max(times) + timedelta(days=1)
    found = []
    while now < end + timedelta(days=rest_days):
        found.append(now)
        now += timedelta(days=step_days)
    return [*found, end + timedelta(days=rest_days)]


def measure(
    *,
    sample: Sample,
    step_days: int,
    rest_days: int,
    use: int,
    chosen: Mapping[str, object],
    tools: Tools,
) -> tuple[Counter[str], Store]:
    """The figures of a conversation, and its untended team."""
    steps = clock_of(sample, step_days=step_days, rest_days=rest_days)
    plain, tended = (Store.of(sample, is_tended=each, chosen=chosen) for each in (False, True))
    for store in (plain, tended):
        replay(sample=sample, store=store, steps=steps, use=use, tools=tools)
    found: Counter[str] = Counter(questions=len(sample.questions), runs=tended.runs)
    found["days"] = (steps[-1] - steps[0]).days
    found.update({f"changed by {step}": count for step, count in tended.changes.items()})
    for name, store in (("before", plain), ("after", tended)):
        rows = store.searchable()
        found[f"rows {name}"] = len(rows)
        found[f"tokens {name}"] = sum(ESTIMATE.count(each.content) for each in rows)
    shown = {turn for each in tended.searchable() for turn in each.source_external_ids}
    for question in sample.questions:
        for way, include_raw in WAYS.items():
            before, after = (
                store.ask(question, include_raw=include_raw, tools=tools, now=steps[-1])
                & question.evidence
                for store in (plain, tended)
            )
            for name, turns in (("before", before), ("after", after)):
                # In thousandths, so that all figures are whole numbers to be summed up.
                found[f"{way}: recall {name}"] += round(1000 * len(turns) / len(question.evidence))
            found[f"{way}: found before"] += bool(before)
            found[f"{way}: found after"] += bool(after)
            if before and not after:
                lost = "displaced" if before & shown else "hidden"
                found[f"{way}: {lost}"] += 1
    return found, plain


def lines(title: str, found: Counter[str]) -> list[str]:
    """The figures for printing."""
    told = [
        f"{title}: {found['questions']} questions, {found['days']} days, {found['runs']} runs;"
        f" changed: "
        + ", ".join(f"{key[11:]} {found[key]}" for key in found if key.startswith("changed by "))
    ]
    for name in ("rows", "tokens"):
        before, after = found[f"{name} before"], found[f"{name} after"]
        told.append(
            f"  {name:<16}{before:>8,} → {after:,} ({_share(after - before, before):+.1f} %)"
        )
    for way in WAYS:
        hidden, displaced = found[f"{way}: hidden"], found[f"{way}: displaced"]
        before = found[f"{way}: found before"]
        recalls = [found[f"{way}: recall {name}"] / 10 for name in ("before", "after")]
        of_all = " → ".join(f"{each / (found['questions'] or 1):.1f}" for each in recalls)
        told.append(
            f"  {way:<16}R@{FOUND_WITHIN} {of_all} %, found {before} →"
            f" {found[f'{way}: found after']}; false forgetting {hidden + displaced}"
            f" ({_share(hidden + displaced, before):.2f} %: {hidden} hidden, {displaced} displaced)"
        )
    return told


def _share(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the LoCoMo files")
    parser.add_argument("--conversations", help="names of files, as in 26,30; all when left out")
    parser.add_argument("--step-days", type=int, default=1, help="from one run to the next")
    parser.add_argument("--rest-days", type=int, default=90, help="runs go on after the talk")
    parser.add_argument("--use", type=int, default=5, help="one question in so many; 0: none")
    parser.add_argument("--pairs", type=Path, help="labelled pairs, for the duplicates removed")
    parser.add_argument("--settings", default="{}", help="lifecycle settings of the teams, JSON")
    parser.add_argument("--json", action="store_true", help="the sums as JSON, too")
    given = parser.parse_args()
    try:
        chosen = check_lifecycle_settings(json.loads(given.settings))
    except (ValueError, DocumentError) as error:
        parser.error(f"--settings: {error}")
    current_app.conf.task_routes = {RUN_TASK: {"queue": "benchmark"}}  # nobody listens there
    wanted = given.conversations.split(",") if given.conversations else None
    paths = [
        each for each in sorted(given.data.glob("*.json")) if not wanted or each.stem in wanted
    ]
    if not paths:
        parser.error(f"no such conversations in {given.data}")
    tools, sums = default_tools(), Counter[str]()
    print(
        f"a run each {given.step_days} days; of the questions, 1 in {given.use} is asked meanwhile"
    )
    first: Store | None = None
    for path in paths:
        found, plain = measure(
            sample=read_sample(path=path),
            step_days=given.step_days,
            rest_days=given.rest_days,
            use=given.use,
            chosen=chosen,
            tools=tools,
        )
        first = first or plain
        sums.update(found)
        print("\n".join(lines(path.stem, found)), flush=True)
    if len(paths) > 1:
        print("\n".join(lines("all", sums)))
    if given.json:
        print(json.dumps(sums, indent=2))
    if given.pairs and first:
        texts = [each.content for each in first.searchable()]
        print_duplicates(texts=texts, path=given.pairs, tools=tools)


if __name__ == "__main__":
    main()
