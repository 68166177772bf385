"""From memories and texts to a prompt, as a plan says; what says the same is told once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from uuid import UUID

from memory.domain.differences import plain_saying, said_saying, saying
from memory.domain.levels import Level
from memory.domain.packing import Item, Packed, pack
from memory.domain.plans.plan import Block, Entry, Plan, Section, Text, Written
from memory.domain.rendering import Line, TokenCounter

# What stands in a section: a memory or a text, as it is printed.
Shown = tuple[Entry | Text, Written, Level]


class Told(NamedTuple):
    """A memory in the prompt, the section it stands in, the tokens of its line, and its level."""

    entry: Entry
    section: str
    tokens: int
    level: Level = Level.CONTENT

    @property
    def line(self) -> Line:
        """Its line, with the text of its level."""
        line, levels = self.entry.line, self.entry.levels
        if levels is None:
            return line
        return replace(line, content=levels.at(self.level, line.content))


@dataclass(frozen=True, slots=True)
class Trimmed:
    """The items of a section cut from its own room for want of budget."""

    section: str
    count: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Assembly:
    """A prompt and what it took.

    `told` are its memories, best first; `tokens` what each section takes, headings included;
    `trimmed` the sections that the budget cut into, the first trimmed first; `duplicates` the keys
    of memories that say the same as one that is told, with the key of that one; `quoted` the
    tokens of each text that has a key; `optional` how many memories and texts are not mandatory.
    `offered` is all that was to be packed, and `cut` what the sections' own rooms would have held.
    """

    prompt: str
    told: tuple[Told, ...]
    tokens: Mapping[str, int]
    tokens_used: int
    trimmed: tuple[Trimmed, ...] = ()
    duplicates: tuple[tuple[UUID, UUID], ...] = ()
    warnings: tuple[str, ...] = ()
    quoted: Mapping[UUID, int] = field(default_factory=dict)
    optional: int = 0
    offered: Sequence[Item[Shown]] = ()
    cut: Sequence[Item[Shown]] = ()


def assemble(
    *,
    plan: Plan,
    entries: Iterable[Entry],
    texts: Iterable[Text] = (),
    token_budget: int,
    counter: TokenCounter,
    limit: int | None = None,
) -> Assembly:
    """The plan's prompt within the budget; over it, with a warning, only by what is mandatory.

    The tokens of the parts add up to `tokens_used`, and the whole prompt never counts more than
    the budget, whatever the counter makes of parts that are put together. At most `limit` memories
    and messages go in beside the mandatory ones.
    """
    items = without_what_memories_say(_items(plan, entries, texts, counter))
    first = _first(plan, items)
    budget = token_budget
    while True:
        packed = pack(
            items,
            rooms=[section.room for section in plan.sections],
            token_budget=budget,
            limit=limit,
            first=first,
            saying=saying_of,
            common=plan.common,
        )
        prompt = _print(plan, packed)
        excess = counter.count(prompt) - token_budget
        if excess <= 0 or all(item.is_mandatory for item in packed.items):
            break
        budget = min(budget, packed.tokens_used) - excess
    told = [
        Told(item.value[0], item.section, item.tokens, item.value[2])
        for item in sorted(packed.items, key=lambda item: -item.score)
        if isinstance(item.value[0], Entry)
    ]
    return Assembly(
        prompt=prompt,
        told=tuple(told),
        tokens=packed.tokens,
        tokens_used=packed.tokens_used,
        trimmed=_trimmed(plan, packed),
        duplicates=_duplicates(packed),
        warnings=_warnings(plan, packed, token_budget),
        quoted={
            item.value[0].key: item.tokens
            for item in packed.items
            if isinstance(item.value[0], Text) and item.value[0].key is not None
        },
        optional=packed.optional,
        offered=items,
        cut=packed.cut,
    )


def _items(
    plan: Plan, entries: Iterable[Entry], texts: Iterable[Text], counter: TokenCounter
) -> list[Item[Shown]]:
    sections = {section.room.name: section for section in plan.sections}
    blocks = {block.name: block for block in plan.blocks}
    openings: dict[tuple[str, str], tuple[tuple[Hashable, int], ...]] = {}

    def size(text: str) -> int:
        return counter.count(f"\n{text}\n") if text else 0

    def frame(block: Block) -> tuple[Hashable, int]:
        return block.name, size(block.opening) + size(block.closing)

    def opens(name: str, heading: str) -> tuple[tuple[Hashable, int], ...]:
        if (name, heading) not in openings:
            block = blocks[name]
            before = [frame(blocks[block.after])] if block.after is not None else []
            # Lines without a heading or an opening still stand apart from what is before them.
            bare = 0 if block.opening else counter.count("\n")
            below = ((name, heading), size(heading) if heading else bare)
            openings[name, heading] = (*before, frame(block), below)
        return openings[name, heading]

    def item(
        shown: Entry | Text,
        section: Section,
        versions: Sequence[tuple[Level, Written]],
        *,
        is_mandatory: bool,
    ) -> Item[Shown]:
        (value, tokens), *shorter = (
            ((shown, written, level), counter.count(f"{written.text}\n"))
            for level, written in versions
        )
        return Item(
            value,
            section.room.name,
            tokens,
            shown.score,
            opens(section.block, value[1].heading),
            is_mandatory,
            # The summary of a conversation is neither a memory nor a message.
            is_counted=shown.key is not None,
            shorter=tuple(shorter),
        )

    items = [
        item(
            text,
            sections[text.section],
            [(Level.CONTENT, text.written)],
            is_mandatory=text.is_mandatory,
        )
        for text in texts
        if text.written.text
    ]
    for entry in entries:
        line = entry.line
        section = sections.get(entry.section) or plan.section_of(line)
        if section is not None:
            versions = section.written(entry)
            items.append(item(entry, section, versions, is_mandatory=section.must(line)))
    return items


def _first(plan: Plan, items: Sequence[Item[Shown]]) -> list[Item[Shown]]:
    if plan.first is None:
        return []
    told = [(item.value[0], item) for item in items if isinstance(item.value[0], Entry)]
    of_key = {entry.key: item for entry, item in told}
    return [of_key[entry.key] for entry in plan.first([entry for entry, _ in told])]


def _print(plan: Plan, packed: Packed[Shown]) -> str:
    block_of = {section.room.name: section.block for section in plan.sections}
    lines: dict[tuple[str, str], list[tuple[float, float, str]]] = {}
    for item in packed.items:
        written = item.value[1]
        place = (block_of[item.section], written.heading)
        lines.setdefault(place, []).append((written.order, -item.score, written.text))
    used = {block for block, _ in lines}
    used |= {block.after for block in plan.blocks if block.after is not None and block.name in used}
    parts: list[str] = []
    for block in plan.blocks:
        if block.name in used:
            parts += _print_block(block, lines)
    return "\n\n".join(parts)


def _print_block(
    block: Block, lines: Mapping[tuple[str, str], Sequence[tuple[float, float, str]]]
) -> list[str]:
    groups = []
    used = [heading for name, heading in lines if name == block.name]
    # A heading that the block does not place comes after those that it does.
    for heading in dict.fromkeys(["", *block.headings, *used]):
        found = sorted(lines.get((block.name, heading), ()), key=lambda each: each[:2])
        texts = [text for _, _, text in found]
        if heading == "" and block.opening:
            texts.insert(0, block.opening)
        elif texts and heading:
            texts.insert(0, heading)
        if texts:
            groups.append("\n".join(texts))
    return [*groups, block.closing] if block.closing else groups


def _duplicates(packed: Packed[Shown]) -> tuple[tuple[UUID, UUID], ...]:
    pairs = ((one.value[0], other.value[0]) for one, other in packed.duplicates)
    return tuple(
        (one.key, other.key)
        for one, other in pairs
        if isinstance(one, Entry) and isinstance(other, Entry)
    )


def _trimmed(plan: Plan, packed: Packed[Shown]) -> tuple[Trimmed, ...]:
    found = []
    for room in sorted((each.room for each in plan.sections), key=lambda room: -room.trim):
        tokens = [item.tokens for item in packed.cut if item.section == room.name]
        if tokens:
            found.append(Trimmed(room.name, len(tokens), sum(tokens)))
    return tuple(found)


def _warnings(plan: Plan, packed: Packed[Shown], token_budget: int) -> tuple[str, ...]:
    if packed.mandatory_tokens <= token_budget:
        return ()
    return (
        f"{plan.mandatory} take {packed.mandatory_tokens} tokens,"
        f" over the budget of {token_budget}",
    )


def saying_of(shown: Shown) -> Hashable | None:
    """Equal for what says the same; None for what is no statement, such as a skill."""
    if isinstance(shown[0], Entry):
        return saying(shown[0].line)
    return said_saying(shown[0].said) if shown[0].said else None


def without_what_memories_say(items: Sequence[Item[Shown]]) -> list[Item[Shown]]:
    """The items without the messages that say what a memory says, which takes their rank.

    A memory that quotes somebody stands in for a message of the same speaker and day, one that
    quotes nobody for any message in the same words.
    """
    alike: dict[Hashable, list[Item[Shown]]] = {}
    for item in items:
        if isinstance(item.value[0], Text) and item.value[0].said:
            for says in (said_saying(item.value[0].said), plain_saying(item.value[0].said)):
                alike.setdefault(says, []).append(item)
    if not alike:
        return list(items)
    ranks: dict[int, float] = {}
    gone: set[int] = set()
    for item in items:
        if isinstance(item.value[0], Text):
            continue
        for text in alike.get(saying(item.value[0].line), ()):
            gone.add(id(text))
            ranks[id(item)] = max(ranks.get(id(item), item.score), text.score)
    return [
        item._replace(score=ranks[id(item)]) if id(item) in ranks else item
        for item in items
        if id(item) not in gone
    ]
