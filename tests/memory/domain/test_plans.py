"""Plans are data over one packer: their laws, and the plans of `retrieve` and of the prompt."""

from __future__ import annotations

import random
import uuid
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from memory.domain.plans.assembly import Assembly, assemble
from memory.domain.plans.plan import (
    LAYERS,
    NOTICE,
    RETRIEVAL,
    RETRIEVED_RESERVE,
    SEVEN_LAYERS,
    Entry,
    Layer,
    Plan,
    Text,
    Written,
    summary_line,
)
from memory.domain.rendering import (
    ESTIMATE,
    HEADINGS,
    SAID_HEADING,
    SaidLine,
    TokenCounter,
    estimate_tokens,
)
from memory.domain.types import MemoryType
from tests.support.prompt_lines import ENTRIES, FEB_9, entry

WORDS = st.text(max_size=120)


@st.composite
def layer_texts(draw: st.DrawFn) -> list[Text]:
    """Layers 1, 3 and 7."""
    return [
        Text(
            Layer.PERSONALITY, Written(f"You are {draw(st.text(max_size=60))}."), is_mandatory=True
        ),
        *(
            Text(Layer.SKILLS, Written(f"- skill {n}"), is_mandatory=True)
            for n in range(draw(st.integers(0, 3)))
        ),
        Text(Layer.SUMMARY, Written(summary_line(draw(WORDS), counter=ESTIMATE))),
    ]


@dataclass(frozen=True)
class Unruly:
    """A counter for which the whole may be more than its parts, as no tokenizer should be."""

    name: str = "unruly"

    def count(self, text: str) -> int:
        return estimate_tokens(text) + 3 * text.count("\n\n") if len(text) > 150 else len(text) // 9


COUNTERS = st.sampled_from([ESTIMATE, Unruly()])
PLANS = st.sampled_from([RETRIEVAL, SEVEN_LAYERS])


def quote(
    content: str, *, speaker: str = "Sarah", score: float = 0.5, section: str = "rest"
) -> Text:
    """A message that somebody said."""
    said = SaidLine(content, speaker, FEB_9)
    written = Written(said.render(), SAID_HEADING)
    return Text(section, written, score=score, key=uuid.uuid4(), said=said)


def told(assembly: Assembly) -> set[str]:
    """The texts of the memories in the prompt."""
    return {each.entry.line.content for each in assembly.told}


class TestEveryPlan:
    @given(PLANS, ENTRIES, st.integers(0, 600), COUNTERS)
    def test_is_never_over_budget_but_for_what_must_be_told(
        self, plan: Plan, entries: list[Entry], budget: int, counter: TokenCounter
    ) -> None:
        result = assemble(plan=plan, entries=entries, token_budget=budget, counter=counter)

        must = {
            each.key
            for each in entries
            if (section := plan.section_of(each.line)) and section.must(each.line)
        }
        if {each.entry.key for each in result.told} - must:
            assert counter.count(result.prompt) <= budget
            assert result.tokens_used <= budget
            assert result.warnings == ()
        if result.tokens_used > budget:
            assert f"over the budget of {budget}" in result.warnings[0]

    @given(PLANS, ENTRIES, st.integers(0, 600), COUNTERS)
    def test_always_tells_identity_and_what_is_pinned(
        self, plan: Plan, entries: list[Entry], budget: int, counter: TokenCounter
    ) -> None:
        result = assemble(plan=plan, entries=entries, token_budget=budget, counter=counter)

        keys = {each.entry.key for each in result.told}
        for each in entries:
            if each.line.is_pinned or each.line.memory_type == MemoryType.IDENTITY:
                assert each.key in keys
                assert each.line.render() in result.prompt.splitlines()

    @given(PLANS, ENTRIES, st.integers(0, 2000))
    def test_counts_tokens_that_add_up_and_cover_the_prompt(
        self, plan: Plan, entries: list[Entry], budget: int
    ) -> None:
        result = assemble(plan=plan, entries=entries, token_budget=budget, counter=ESTIMATE)

        assert sum(result.tokens.values()) == result.tokens_used
        assert estimate_tokens(result.prompt) <= result.tokens_used

    @given(PLANS, ENTRIES, st.integers(0, 2000))
    def test_prints_nothing_but_its_frame_and_one_line_a_memory(
        self, plan: Plan, entries: list[Entry], budget: int
    ) -> None:
        result = assemble(plan=plan, entries=entries, token_budget=budget, counter=ESTIMATE)

        frame = {*HEADINGS, *(part for each in plan.blocks for part in each.opening.splitlines())}
        printed = [each for each in result.prompt.splitlines() if each and each not in frame]
        assert sorted(printed) == sorted(each.entry.line.render() for each in result.told)
        assert not any(each.startswith("#") for each in printed)

    @given(PLANS, ENTRIES, st.integers(0, 99))
    def test_does_not_depend_on_the_order_of_distinct_scores(
        self, plan: Plan, entries: list[Entry], seed: int
    ) -> None:
        distinct = list({each.score: each for each in entries}.values())
        shuffled = random.Random(seed).sample(distinct, len(distinct))

        one = assemble(plan=plan, entries=distinct, token_budget=300, counter=ESTIMATE)
        other = assemble(plan=plan, entries=shuffled, token_budget=300, counter=ESTIMATE)
        assert one.prompt == other.prompt

    def test_of_nothing_is_empty(self) -> None:
        for plan in (RETRIEVAL, SEVEN_LAYERS):
            result = assemble(plan=plan, entries=[], token_budget=100, counter=ESTIMATE)

            assert (result.prompt, result.tokens_used, result.warnings) == ("", 0, ())


class TestRetrieval:
    def test_the_profile_goes_before_better_facts_up_to_its_200_tokens(self) -> None:
        profile = [entry(f"P{n} {'x' * 200}", MemoryType.USER_PROFILE, score=0.1) for n in range(4)]
        facts = [entry(f"F{n} {'y' * 300}", score=0.9) for n in range(5)]

        result = assemble(
            plan=RETRIEVAL, entries=[*profile, *facts], token_budget=500, counter=ESTIMATE
        )

        starts = sorted(each[:2] for each in told(result))
        assert starts == ["F0", "F1", "F2", "P0", "P1", "P2"]
        lines = [each.tokens for each in result.told if each.section == "user_profile"]
        assert 133 < sum(lines) <= 200

    def test_two_copies_of_a_fact_are_shown_once(self) -> None:
        shared = entry("The team uses PostgreSQL.", score=0.9)
        own = entry("The team uses PostgreSQL", MemoryType.AGENT_PRIVATE, score=0.8)
        other = entry("The team uses PostgreSQL 16.", score=0.1)

        result = assemble(
            plan=RETRIEVAL, entries=[own, shared, other], token_budget=500, counter=ESTIMATE
        )

        assert result.duplicates == ((own.key, shared.key),)
        assert told(result) == {"The team uses PostgreSQL.", "The team uses PostgreSQL 16."}

    def test_a_statement_filed_twice_is_told_in_the_section_that_comes_first(self) -> None:
        profile = entry("Sarah likes tea.", MemoryType.USER_PROFILE, score=0.1)
        team = entry("Sarah likes tea", MemoryType.SHARED, score=0.9)
        fact = entry("Sarah likes tea.", score=0.8)

        for plan in (RETRIEVAL, SEVEN_LAYERS):
            result = assemble(
                plan=plan, entries=[team, fact, profile], token_budget=500, counter=ESTIMATE
            )

            assert [each.entry for each in result.told] == [profile]
            assert set(result.duplicates) == {(team.key, profile.key), (fact.key, profile.key)}

    def test_a_sentence_said_twice_is_quoted_once_as_the_better_found(self) -> None:
        texts = [quote("The port is 5432.", score=score) for score in (0.3, 0.6, 0.5)]

        result = assemble(
            plan=RETRIEVAL, entries=[], texts=texts, token_budget=500, counter=ESTIMATE
        )

        assert set(result.quoted) == {texts[1].key}
        assert result.duplicates == ()

    def test_what_two_people_say_of_themselves_is_quoted_of_both(self) -> None:
        texts = [quote("I like tea.", speaker=name) for name in ("Sarah", "Omar", "Sarah")]

        result = assemble(
            plan=RETRIEVAL, entries=[], texts=texts, token_budget=500, counter=ESTIMATE
        )

        assert len(result.quoted) == 2

    @given(st.permutations([0.2, 0.5, 0.9]), st.sampled_from([RETRIEVAL, SEVEN_LAYERS]))
    def test_a_memory_takes_the_place_of_a_message_in_its_words(
        self, scores: list[float], plan: Plan
    ) -> None:
        section = "rest" if plan is RETRIEVAL else Layer.RETRIEVED
        said = quote("the port is 5432", score=scores[0], section=section)
        other = quote("The host is db-1.", score=scores[1], section=section)
        known = entry("The port is 5432.", score=scores[2])

        result = assemble(
            plan=plan, entries=[known], texts=[said, other], token_budget=500, counter=ESTIMATE
        )

        assert [each.entry for each in result.told] == [known]
        assert set(result.quoted) == {other.key}
        assert result.prompt.lower().count("port is 5432") == 1

    def test_a_memory_has_the_rank_of_the_message_that_it_stands_for(self) -> None:
        known = entry(f"The port is {'5' * 150}.", score=0.1)
        better = entry(f"The host is {'h' * 150}.", score=0.5)
        said = quote(known.line.content, score=0.9)

        result = assemble(
            plan=RETRIEVAL,
            entries=[known, better],
            texts=[said],
            token_budget=70,
            counter=ESTIMATE,
        )

        assert told(result) == {known.line.content}

    def test_a_message_is_quoted_beside_what_is_disputed(self) -> None:
        said, known = quote("The port is 5432."), entry("The port is 5432.", status="disputed")

        result = assemble(
            plan=RETRIEVAL, entries=[known], texts=[said], token_budget=500, counter=ESTIMATE
        )

        assert (len(result.told), len(result.quoted)) == (1, 1)

    def test_events_stand_with_the_latest_first(self) -> None:
        days = [
            entry(f"Day {n}.", MemoryType.EPISODIC, at=FEB_9.replace(day=n), score=1 / n)
            for n in (3, 9, 1)
        ]

        prompt = assemble(plan=RETRIEVAL, entries=days, token_budget=500, counter=ESTIMATE).prompt

        assert [each[-6:] for each in prompt.splitlines()[1:]] == ["Day 9.", "Day 3.", "Day 1."]


ROOMY = 10_000


def layered(
    budget: int, *, facts: int = 4, team: int = 3, profile: int = 2, summary: str = "All is well."
) -> Assembly:
    """A prompt with something in every layer."""
    entries = [
        entry("I am Kyra.", MemoryType.IDENTITY, score=1.0),
        *(entry(f"Profile {n}: {'p' * 60}", MemoryType.USER_PROFILE) for n in range(profile)),
        *(entry(f"Fact {n}: {'f' * 60}", score=0.9 - n / 100) for n in range(facts)),
        *(entry(f"Team {n}: {'t' * 60}", MemoryType.SHARED) for n in range(team)),
    ]
    texts = [
        Text(Layer.PERSONALITY, Written("You are Kyra."), is_mandatory=True),
        Text(Layer.SKILLS, Written("- charts: draws them"), is_mandatory=True),
        Text(Layer.SUMMARY, Written(summary_line(summary, counter=ESTIMATE))),
    ]
    return assemble(
        plan=SEVEN_LAYERS, entries=entries, texts=texts, token_budget=budget, counter=ESTIMATE
    )


class TestSevenLayers:
    def test_the_parts_stand_in_the_order_of_the_template(self) -> None:
        lines = layered(ROOMY).prompt.splitlines()

        parts = [each for each in lines if each.startswith(("You", "## ", "- "))]
        assert parts == [
            "You are Kyra.",
            "## What You Remember",
            "## Your Identity",
            "## What You Know (Facts)",
            "## Team Knowledge",
            "## Your Skills",
            "- charts: draws them",
            "## User Profile",
            "## Conversation Context",
        ]
        assert lines[lines.index("## What You Remember") + 1] == NOTICE
        assert lines[-1] == "[SUMMARY]: All is well."

    def test_each_layer_has_its_tokens(self) -> None:
        result = layered(ROOMY)

        assert list(result.tokens) == list(LAYERS)
        assert all(result.tokens.values())
        assert result.trimmed == ()

    def test_layers_are_trimmed_7_6_5_4_as_the_budget_shrinks(self) -> None:
        order = [Layer.SUMMARY, Layer.TEAM, Layer.RETRIEVED, Layer.USER_PROFILE]
        seen = []
        for budget in range(layered(ROOMY).tokens_used, 60, -1):
            result = layered(budget)
            names = [each.section for each in result.trimmed]
            assert names == order[: len(names)]
            for emptied in names[:-1]:
                assert result.tokens[emptied] == 0
            for layer in (Layer.PERSONALITY, Layer.IDENTITY, Layer.SKILLS):
                assert result.tokens[layer] > 0
            if names not in seen:
                seen.append(names)
        assert seen == [order[:length] for length in range(5)]

    @given(ENTRIES, layer_texts(), st.integers(0, 900), COUNTERS)
    def test_a_layer_is_trimmed_only_when_those_before_it_are_gone(
        self, entries: list[Entry], texts: list[Text], budget: int, counter: TokenCounter
    ) -> None:
        result = assemble(
            plan=SEVEN_LAYERS, entries=entries, texts=texts, token_budget=budget, counter=counter
        )

        numbers = [LAYERS.index(Layer(each.section)) + 1 for each in result.trimmed]
        assert numbers == sorted(numbers, reverse=True)
        assert set(numbers) <= {4, 5, 6, 7}
        if numbers:
            optional = [
                LAYERS.index(Layer(each.section)) + 1
                for each in result.told
                if not each.entry.line.is_pinned
            ]
            assert all(number <= numbers[-1] for number in optional)
            assert result.tokens[Layer.SUMMARY] == 0

    @given(
        st.lists(st.integers(1, 400), min_size=1, max_size=6),
        st.lists(st.integers(1, 400), min_size=1, max_size=6),
        st.integers(100, 300),
    )
    def test_of_a_small_budget_team_and_summary_get_what_the_retrieved_leave(
        self, facts: list[int], team: list[int], budget: int
    ) -> None:
        retrieved = [entry(f"{n} {'f' * size}", score=0.1) for n, size in enumerate(facts)]
        shared = [
            entry(f"{n} {'t' * size}", MemoryType.SHARED, score=0.9) for n, size in enumerate(team)
        ]
        summary = Text(Layer.SUMMARY, Written(summary_line("All is well.", counter=ESTIMATE)))

        result = assemble(
            plan=SEVEN_LAYERS,
            entries=[*retrieved, *shared],
            texts=[summary],
            token_budget=budget,
            counter=ESTIMATE,
        )

        if result.tokens[Layer.TEAM] or result.tokens[Layer.SUMMARY]:
            written = sum(estimate_tokens(f"{each.line.render()}\n") for each in retrieved)
            assert written > RETRIEVED_RESERVE or {each.key for each in retrieved} <= {
                each.entry.key for each in result.told
            }

    @given(ENTRIES, layer_texts(), st.integers(0, 900), COUNTERS)
    def test_layers_1_to_3_are_whole_whatever_the_budget(
        self, entries: list[Entry], texts: list[Text], budget: int, counter: TokenCounter
    ) -> None:
        result = assemble(
            plan=SEVEN_LAYERS, entries=entries, texts=texts, token_budget=budget, counter=counter
        )

        for text in texts:
            if text.is_mandatory:
                assert text.written.text in result.prompt
        identity = {each.key for each in entries if each.line.memory_type == MemoryType.IDENTITY}
        assert identity <= {each.entry.key for each in result.told}
        assert sum(result.tokens.values()) == result.tokens_used

    def test_many_memories_leave_room_for_team_and_summary(self) -> None:
        result = layered(2000, facts=200)

        assert result.tokens[Layer.RETRIEVED] >= 1000
        assert result.tokens[Layer.TEAM] > 0
        assert result.tokens[Layer.SUMMARY] > 0
        assert 1950 < result.tokens_used <= 2000

    def test_memory_is_said_to_be_read_only_wherever_any_of_it_stands(self) -> None:
        profile = entry("Name is Sarah.", MemoryType.USER_PROFILE)
        summary = Text(Layer.SUMMARY, Written("[SUMMARY]: Hello."))

        for entries, texts in (([profile], []), ([], [summary])):
            prompt = assemble(
                plan=SEVEN_LAYERS,
                entries=entries,
                texts=texts,
                token_budget=500,
                counter=ESTIMATE,
            ).prompt
            assert NOTICE in prompt

    def test_a_pinned_memory_stays_in_a_trimmed_layer(self) -> None:
        pinned = entry("Never on Fridays.", MemoryType.SHARED, is_pinned=True)
        loose = entry("Lunch is at noon.", MemoryType.SHARED)

        result = assemble(
            plan=SEVEN_LAYERS, entries=[pinned, loose], token_budget=70, counter=ESTIMATE
        )

        assert told(result) == {"Never on Fridays."}
        assert [each.section for each in result.trimmed] == [Layer.TEAM]


class TestSummaryLine:
    @given(st.text(max_size=3000), COUNTERS)
    def test_it_fits_its_layer_on_one_line(self, text: str, counter: TokenCounter) -> None:
        made = summary_line(text, counter=counter)

        assert counter.count(f"{made}\n") <= 200
        assert len(made.splitlines()) <= 1
        assert made == "" or made.startswith("[SUMMARY]: ")

    def test_the_latest_sentences_of_a_long_one_stay(self) -> None:
        made = summary_line(" ".join(f"Sentence number {n}." for n in range(90)), counter=ESTIMATE)

        assert made.startswith("[SUMMARY]: … Sentence number ")
        assert made.endswith("Sentence number 88. Sentence number 89.")

    def test_of_a_sentence_that_is_too_long_its_beginning_stays(self) -> None:
        made = summary_line("word " * 900, counter=ESTIMATE)

        assert made.startswith("[SUMMARY]: word word")
        assert made.endswith(" …")
        assert estimate_tokens(made) > 190

    def test_nothing_makes_nothing(self) -> None:
        assert summary_line(" \n", counter=ESTIMATE) == ""
