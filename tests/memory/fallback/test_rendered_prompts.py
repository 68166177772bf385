"""No prompt that the product writes comes back as a memory, whoever pastes it and in what shape."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.domain.escaping import escaped_line
from memory.domain.personality import Document, effective_skills, personality_text
from memory.domain.plans.assembly import assemble
from memory.domain.plans.plan import FORGETTING, RETRIEVAL, Entry, Plan, Text, Written
from memory.domain.plans.prompt import NOTICE, SEVEN_LAYERS, Layer, summary_line
from memory.domain.prompt_guards import without_rendered_memory
from memory.domain.rendering import LABELS, SAID_HEADING, Line, Opposite, SaidLine
from memory.domain.tokens import ESTIMATE
from memory.domain.types import MemoryType, Status
from memory.domain.updates import Kind, Known, Update, header

from .conversation import both_passes

MARCH = datetime(2026, 3, 2, 9, tzinfo=UTC)
# What the extractor would take for a memory at once, were it said.
FACTS = (
    "Dana lives in Quito.",
    "Dana is allergic to peanuts. She carries a pen with her.",
    "On March 2, 2026, Dana moved to the harbour office.",
    "Dana prefers rye over wheat.",
    "The team deploys from the main branch on Fridays.",
    "Ada's rate is 4.50 euros per page: agreed in May.",
    "Dana works at Harlan & Sons [Basel] as a binder.",
)
KYRA = Document(
    name="Kyra",
    tagline="an archivist who lives in Ghent",
    personality={
        "traits": ["patient", "She has worked at the archive since 2011."],
        "tone": "warm",
        "examples": ["I keep every letter in a drawer."],
        "custom_instructions": "Always answer in French.\n\nOur office is in Lima.",
    },
    rules={"always": ["Cite the shelf of each letter."], "never": ["Share prices with Ada."]},
    skills={"quill": "writes letters to the mayor of Basel"},
)
LINES = st.builds(
    Line,
    content=st.sampled_from(FACTS),
    memory_type=st.sampled_from(list(MemoryType)),
    importance=st.integers(1, 10),
    confidence=st.sampled_from([0.5, 0.87, 1.0]),
    at=st.just(MARCH),
    status=st.sampled_from([Status.ACTIVE.value, Status.DISPUTED.value]),
    category=st.sampled_from(["", "preferences"]),
    succeeded=st.integers(0, 9),
    failed=st.integers(0, 2),
    opposites=st.sampled_from([(), (Opposite("Dana lives in (old) Lima.", MARCH),)]),
    is_pinned=st.booleans(),
)
ENTRIES = st.lists(LINES, min_size=1, max_size=7).map(
    lambda lines: [Entry(UUID(int=at + 1), line, 0.5) for at, line in enumerate(lines)]
)


def printed(plan: Plan, entries: list[Entry], *texts: Text) -> str:
    return assemble(
        plan=plan, entries=entries, texts=texts, token_budget=4_000, counter=ESTIMATE
    ).prompt


def whole(entries: list[Entry]) -> str:
    """All that `/v1/prompt` and a chat can put into one prompt."""
    said = SaidLine("I moved to the harbour office in Basel.", "Dana [x]", MARCH).render()
    skills = "\n".join(each.render() for each in effective_skills(KYRA))
    summary = summary_line("Dana lives in Quito and works at Harlan.", counter=ESTIMATE)
    updates = [
        Update(kind, Known(each.key, each.line.content, "FACT", 5, "active"), 4)
        for kind, each in zip(Kind, entries[:3], strict=False)
    ]
    prompt = printed(
        SEVEN_LAYERS,
        entries,
        Text(Layer.PERSONALITY, Written(personality_text(KYRA))),
        Text(Layer.SKILLS, Written(skills)),
        Text(Layer.SUMMARY, Written(summary)),
        Text(Layer.RETRIEVED, Written(said, SAID_HEADING)),
    )
    return f"{header(updates, since=3, counter=ESTIMATE)}\n\n{prompt}"


PROMPTS = st.one_of(ENTRIES.map(whole), ENTRIES.map(lambda each: printed(RETRIEVAL, each)))


def without_labels(prompt: str) -> str:
    return re.sub(r"^\[[^\]\n]*\]: ", "- ", prompt, flags=re.MULTILINE)


SHAPES: list[Callable[[str], str]] = [
    str,
    without_labels,
    lambda prompt: " ".join(prompt.split()),
    lambda prompt: json.dumps({"prompt": prompt}),
    lambda prompt: "\n".join(f"> {line}" for line in prompt.splitlines()),
    lambda prompt: re.sub(r"^## (.*)$", r"**\1**\n", prompt, flags=re.MULTILINE),
    lambda prompt: prompt.replace("## ", "# "),
    lambda prompt: f"```\n{prompt}\n```",
    lambda prompt: f"Here is what you know:\n{prompt}",
]


@pytest.mark.parametrize("role", ["user", "assistant", "tool"])
@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=30)  # of each role and shape
@given(prompt=PROMPTS)
def test_a_prompt_of_ours_yields_no_memory(
    prompt: str, shape: Callable[[str], str], role: str
) -> None:
    if shape is SHAPES[5] and prompt.count("## ") < 2:
        # A single bare line such as "Recent Events" may be anybody's heading.
        return
    assert [each.content for each in both_passes(f"{role}: {shape(prompt)}")] == []


@given(prompt=PROMPTS, cut=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_nor_does_a_part_of_one_that_still_shows_whose_it_is(
    prompt: str, cut: tuple[float, float]
) -> None:
    body = prompt.partition(NOTICE)[2] or prompt
    lines = body.splitlines()
    first, last = sorted(round(each * len(lines)) for each in cut)
    part = [line for line in lines[first:last] if not line.startswith("- quill")]
    assert [each.content for each in both_passes("user: " + "\n".join(part))] == []


@given(entries=ENTRIES)
def test_nor_does_any_line_of_a_memory_by_itself(entries: list[Entry]) -> None:
    for entry in entries:
        line = entry.line.render()
        for said in (line, f"- {line}", f"You said: {line}", line.removeprefix("[")):
            assert without_rendered_memory(text=said).strip() in ("", "You said:")


@given(prompt=PROMPTS)
def test_what_is_said_beside_a_prompt_is_kept(prompt: str) -> None:
    own = "My boat is called Petrel."
    for said in (f"{own}\n\n{prompt}", f"{prompt}\n\n{own}"):
        assert [each.content for each in both_passes(f"user: {said}")] == [
            "Dana's boat is called Petrel."
        ]


@pytest.mark.parametrize("said", [FORGETTING, FORGETTING.removeprefix("Tell whoever wants ")])
def test_how_something_is_forgotten_is_no_memory_and_what_stands_beside_it_is(said: str) -> None:
    assert without_rendered_memory(text=said).strip() == ""
    own = "My boat is called Petrel."
    assert without_rendered_memory(text=f"{own}\n{said}").strip() == own


@pytest.mark.parametrize("label", LABELS)
def test_a_memory_cannot_wear_a_label_of_ours(label: str) -> None:
    assert "[" not in escaped_line(f"[{label}]: I rule.")


@pytest.mark.parametrize(
    "said",
    [
        "Recent events made me think: my dog Biscuit died in May.",
        "Team knowledge matters. My dog Biscuit died in May.",
        "Our plan (70% done, 3 tasks left) slips, and my dog Biscuit died in May.",
        "# My week\nMy dog Biscuit died in May.",
        "Recent Events\nMy dog Biscuit died in May.",
        "You are right, my dog Biscuit died in May.",
        "[x] done\nMy dog Biscuit died in May.",
        "NOTE: my dog Biscuit died in May.",
        "Our team does it in the admin, and my dog Biscuit died in May.",
        "Tell whoever wants something that my dog Biscuit died in May.",
    ],
)
def test_words_that_only_resemble_a_prompt_are_kept(said: str) -> None:
    assert without_rendered_memory(text=said) == said
