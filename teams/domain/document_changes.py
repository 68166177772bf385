"""What differs between two versions of a document of an agent or a team, by place."""

from __future__ import annotations

from collections.abc import Mapping

_PARTS = ("personality", "rules", "skills", "model_config", "memory_config", "feature_flags")


def changed_places(before: object, after: object) -> list[str]:
    """The places that differ, such as "tagline" and "memory_config.token_budget", in order."""
    old, new = _object(before), _object(after)
    found = []
    for name in sorted({*old, *new}):
        if old.get(name) == new.get(name):
            continue
        inner_old, inner_new = old.get(name), new.get(name)
        if name in _PARTS and isinstance(inner_old, Mapping) and isinstance(inner_new, Mapping):
            inner = sorted({*inner_old, *inner_new})
            found += [
                f"{name}.{each}" for each in inner if inner_old.get(each) != inner_new.get(each)
            ]
        else:
            found.append(name)
    return found


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
