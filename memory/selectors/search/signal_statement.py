"""The statement that searches memories (memories.sql), for each kind of viewer and question."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from memory.domain.viewer import Viewer
from memory.models.querysets import visible_to_q
from memory.models.search import Place
from memory.selectors.conditions import Kind, viewer_sql
from memory.selectors.search.signal_rows import LIMITS
from memory.selectors.sql_files import load_sql_parts

_SQL = load_sql_parts(__file__, "memories.sql")
_SHARED = load_sql_parts(__file__, "search.sql")
# The owners of what an end user's viewer may see: theirs and nobody's, each a range of an index.
_OWNERS = (
    "memory_searchentry.end_user_id = %(end_user)s",
    "memory_searchentry.end_user_id IS NULL",
)


@dataclass(frozen=True, slots=True)
class Shape:
    """What the text of the statement depends on.

    `kind` is the viewer's; `is_narrowed` says that the search is held to given memories,
    `with_cold` that cold and past ones are looked at, `with_project` that the most important ones
    of the project are proposed.
    """

    kind: Kind
    is_narrowed: bool = False
    with_cold: bool = False
    with_project: bool = False

    @classmethod
    def of(cls, viewer: Viewer, *, is_narrowed: bool = False, with_cold: bool = False) -> Shape:
        return cls(Kind.of(viewer), is_narrowed=is_narrowed, with_cold=with_cold)

    @property
    def visible(self) -> str:
        """The rule of visibility as SQL, with the parameters of `viewer_parameters`."""
        return viewer_sql(visible_to_q, kind=self.kind)

    @property
    def owners(self) -> tuple[str, ...]:
        """Conditions that share out what the viewer may see, each by a range of an index."""
        if self.kind.names_nobody:
            return _OWNERS[1:]
        return _OWNERS if self.kind.of_user else ("TRUE",)

    @property
    def placed(self) -> str:
        """Where the searched entries stand."""
        looks_back = self.with_cold or self.is_narrowed
        last = Place.PAST if looks_back else Place.FOUND
        sign = "<=" if looks_back else "="
        return f"memory_searchentry.place {sign} {last.value}"

    @property
    def condition(self) -> str:
        """All that holds for a searched entry."""
        return f"{self.visible} AND {self.placed} {_only('memory_id', self.is_narrowed)}"


def _only(column: str, is_narrowed: bool) -> str:
    return f"AND memory_searchentry.{column} = ANY (%(only)s::uuid[])" if is_narrowed else ""


def shared_parts(
    *, table: str, key: str, condition: str, found: str, near: str | None
) -> dict[str, str]:
    """The parts of search.sql for search entries of that table, which `key` names.

    `found` finds what holds a word, `near` what is nearest to the vector, None for nothing.
    """
    near = near or _SHARED["near_nothing"].format(key=key)
    names = {"table": table, "key": key, "condition": condition, "found": found, "near": near}
    return {name: text.format(**LIMITS, **names) for name, text in _SHARED.items()}


@lru_cache
def signal_statement(shape: Shape, near: str | None) -> str:
    """The statement for the shape; `near` is the part that finds what is nearest to the vector."""
    # Every prompt holds what the agent knows of itself and, in talk about a person, who that is.
    kind = shape.kind
    is_of_owner = shape.owners != ("TRUE",)
    always = "'identity', 'user_profile'" if kind.of_user else "'identity'"
    parts = {
        **LIMITS,
        "condition": shape.condition,
        "visible": shape.visible,
        "placed": shape.placed,
        "only": _only("memory_id", shape.is_narrowed),
        "only_memory": _only("id", shape.is_narrowed),
        "always": always,
        "agent": "%(agent)s" if kind.of_agent else "NULL",
        "project": "%(project)s" if kind.of_project else "NULL",
        "forwards": "memory_searchentry.end_user_id, " if is_of_owner else "",
        "backwards": "memory_searchentry.end_user_id DESC, memory_searchentry.place DESC, "
        if is_of_owner
        else "",
    }

    def by_owner(name: str) -> str:
        branches = [_SQL[name].format(**parts, owner=owner) for owner in shape.owners]
        return " UNION ALL ".join(branches)

    found = "found_among_given" if shape.is_narrowed else "found_by_index"
    shared = shared_parts(
        table="memory_searchentry",
        key="memory_id",
        condition=shape.condition,
        found=_SQL[found].format(**parts),
        near=near,
    )
    return _SQL["search"].format(
        **parts,
        **shared,
        recent=by_owner("recent"),
        mandatory=by_owner("mandatory"),
        important=by_owner("important"),
        given=_SQL["given"] if shape.is_narrowed else "",
        of_project=_SQL["of_project"].format(**parts) if shape.with_project else "",
    )
