"""Changes that own the lines of the open files."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.satellites.plans.prediction_models import Touch, file_name, likely_needed

PATHS = ["src/client.py", "src/_client.py", "src/models.py", "tests/test_client.py"]
TOUCHES = st.lists(
    st.builds(
        Touch,
        key=st.integers(0, 6),
        path=st.sampled_from(PATHS),
        added=st.none() | st.integers(0, 5000),
        removed=st.none() | st.integers(0, 5000),
        breadth=st.integers(0, 200),
    ),
    max_size=30,
)


def keys(opened: list[str], touches: list[Touch]) -> list[object]:
    return [each.key for each in likely_needed(opened=opened, touches=touches)]


@given(st.lists(st.sampled_from(PATHS), min_size=1, max_size=4, unique=True), TOUCHES)
def test_every_named_memory_has_a_chance_once_and_the_likeliest_comes_first(
    opened: list[str], touches: list[Touch]
) -> None:
    found = likely_needed(opened=opened, touches=touches)

    assert all(0 <= each.chance <= 1 for each in found)
    assert [each.chance for each in found] == sorted((each.chance for each in found), reverse=True)
    assert len({each.key for each in found}) == len(found)
    assert all(each.path in opened for each in found)
    assert {each.key for each in touches if each.path in opened} <= {each.key for each in found}


def test_a_change_whose_lines_are_all_replaced_comes_after_the_one_that_replaced_them() -> None:
    touches = [
        Touch("written", "a.py", 100, 0, 1),
        Touch("rewritten", "a.py", 100, 100, 1),
        Touch("patched", "a.py", 1, 1, 1),
    ]

    found = keys(["a.py"], touches)

    assert found.index("rewritten") < found.index("written")


def test_a_file_keeps_its_changes_when_it_moves() -> None:
    touches = [
        Touch("made", "lib/client.py", 80, 0, 1),
        Touch("moved", "lib/client.py", 0, 80, 2),
        Touch("moved", "lib/core/_client.py", 80, 0, 2),
    ]

    assert set(keys(["lib/core/_client.py"], touches)) == {"made", "moved"}


def test_another_file_of_the_same_name_that_lives_on_says_nothing() -> None:
    touches = [
        Touch("mine", "a/models.py", 10, 0, 1),
        Touch("other", "b/models.py", 10, 0, 1),
    ]

    assert keys(["a/models.py"], touches) == ["mine"]


def test_a_change_of_several_open_files_counts_for_more_than_of_one() -> None:
    touches = [
        Touch("one", "a.py", 20, 0, 2),
        Touch("both", "a.py", 20, 0, 2),
        Touch("both", "b.py", 20, 0, 2),
    ]

    assert keys(["a.py", "b.py"], touches)[0] == "both"


def test_a_name_is_without_folders_case_and_leading_underscores() -> None:
    assert file_name("Src/_Client.py") == file_name("client.py") == "client.py"
