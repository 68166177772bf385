"""Laws of the shapes that repeat, whatever the code is."""

from __future__ import annotations

import ast
from textwrap import dedent

from hypothesis import given
from hypothesis import strategies as st

from memory.satellites.workflows.parsing import parse_code
from memory.satellites.workflows.shapes import (
    MAX_BYTES,
    MAX_LINES,
    MAX_SLOTS,
    MIN_BITS,
    MIN_SAVED,
    Cluster,
    Information,
    Place,
    Shape,
    ShapeIndex,
    clusters_of,
    largest,
)
from memory.satellites.workflows.templates import MAX_TRIGGER_CHARS, template_of

NAMES = st.sampled_from(["order", "invoice", "parcel", "refund", "customer"])
STATEMENTS = st.sampled_from(
    [
        "{0} = load_{1}({0}.key, strict=True)",
        "if {0}.errors:\n        raise InvalidRequest({1})",
        "with transaction.atomic():\n        {0}.save()\n        audit_trail.note({1})",
        "for {0} in {1}.items.all():\n        publish_event({0})",
        "return render_json({0}, {1})",
        "{0}.count += 1",
    ]
)
LINES = st.builds(str.format, STATEMENTS, NAMES, NAMES)
FUNCTIONS = st.builds(
    lambda name, lines: f"def {name}_view(request):\n    " + "\n    ".join(lines) + "\n",
    NAMES,
    st.lists(LINES, min_size=1, max_size=6),
)
SOURCES = st.lists(st.lists(FUNCTIONS, min_size=1, max_size=4).map("".join), max_size=6)

LOAD = (
    "def load(request):\n    form = read_body(request)\n    if form.errors:\n"
    "        raise InvalidRequest(form.errors)\n    return render_json(form)\n"
)


def read(sources: dict[str, str]) -> tuple[list[tuple[str, list[Place]]], Information]:
    index = ShapeIndex()
    for path, text in sources.items():
        index.add(parse_code(path=path, text=text))
    return list(index.groups(known=frozenset())), Information(index.frequency)


def clusters_in(sources: dict[str, str]) -> list[Cluster]:
    groups, information = read(sources)
    return [each for digest, places in groups for each in clusters_of(digest, places, information)]


def skeleton(source: str, place: Place) -> list[tuple[int, str]]:
    """The statements of a place and how deep they are, as Python's own parser has them."""
    start = source.encode().rfind(b"\n", 0, place.start) + 1
    tree = ast.parse(dedent(source.encode()[start : place.end].decode()))
    waiting: list[tuple[int, ast.AST]] = [(0, tree)]
    found = []
    while waiting:
        depth, node = waiting.pop()
        found += [(depth, type(node).__name__)] if isinstance(node, ast.stmt) else []
        waiting += [(depth + 1, each) for each in ast.iter_child_nodes(node)]
    return found


@given(SOURCES)
def test_places_of_a_shape_are_bounded_apart_and_of_one_structure(texts: list[str]) -> None:
    sources = {f"{number}.py": text for number, text in enumerate(texts)}
    groups, _ = read(sources)
    for _, places in groups:
        assert len({len(place.slots) for place in places}) <= 1
        trees = [skeleton(sources[place.path], place) for place in places]
        assert all(tree == trees[0] for tree in trees)
        for number, place in enumerate(places):
            assert place.last_line - place.first_line < MAX_LINES
            assert place.end - place.start <= MAX_BYTES
            assert len(place.slots) <= MAX_SLOTS
            assert not any(place.overlaps(other) for other in places[:number])


@given(SOURCES)
def test_a_cluster_stands_in_three_places_of_two_files_and_saves_enough(texts: list[str]) -> None:
    sources = {f"{number}.py": text for number, text in enumerate(texts)}
    clusters = clusters_in(sources)
    for each in clusters:
        assert len(each.places) >= 3
        assert each.files >= 2
        assert each.bits >= MIN_BITS
        assert each.bits * (len(each.places) - 1) >= MIN_SAVED
        shape = Shape.of(each.digest, each.places)
        assert all(shape.fits(place) for place in each.places)
        assert Shape.parse(shape.name) == shape
    kept = largest(clusters)
    assert all(each in clusters for each in kept)
    assert largest(clusters, told=[place for each in clusters for place in each.places]) == []


@given(SOURCES, st.randoms(use_true_random=False))
def test_the_order_of_the_files_changes_no_shape(texts: list[str], random: object) -> None:
    sources = {f"{number}.py": text for number, text in enumerate(texts)}
    shuffled = list(sources.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    groups, other = read(sources)[0], read(dict(shuffled))[0]
    assert dict(groups) == dict(other)


def test_what_is_inside_a_bigger_shape_with_the_same_places_is_left_out() -> None:
    clusters = clusters_in({f"{name}.py": LOAD for name in ("a", "b", "c", "d")})
    assert len(clusters) > 1
    (kept,) = largest(clusters)
    assert {(place.first_line, place.last_line) for place in kept.places} == {(1, 5)}


def test_values_that_everything_has_tell_nothing() -> None:
    information = Information({"self": 900, "render_invoice": 3, "==": 3})
    assert information.of("==") == 0
    assert information.of("self") < 1 < information.of("render_invoice") <= 10


def test_one_shape_a_thousand_times_over_is_compared_within_bounds() -> None:
    groups, information = read({"a.py": LOAD * 1100, "b.py": LOAD * 1100})
    digest, places = max(groups, key=lambda group: len(group[1]))
    assert len(places) == 2200
    found = clusters_of(digest, places, information)
    assert found
    assert all(len(each.places) <= 1000 and each.files == 2 for each in found)


def test_a_trigger_names_the_folder_that_all_places_share() -> None:
    deep = "/" + "/".join(["folder"] * 60)
    for folders, said in (
        (["/api/a", "/api/b", "/api"], "function in /api"),
        (["/api", "api", "x"], "function"),
        ([deep, deep + "/x", deep], f"function in {deep}"[:MAX_TRIGGER_CHARS]),
    ):
        sources = {f"{folder}/{n}.py": LOAD for n, folder in enumerate(folders)}
        cluster = largest(clusters_in(sources))[0]
        samples = [
            (parse_code(path=place.path, text=sources[place.path]), place)
            for place in cluster.places
        ]
        assert template_of(samples, places=cluster.places).trigger == said
