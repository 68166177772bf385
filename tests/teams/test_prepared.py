"""Statements past the ORM: what they are given arrives, and errors are those of the ORM."""

from __future__ import annotations

from uuid import UUID

import numpy as np
import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pytest_django import Settings

from teams.prepared import Uuids, run_prepared

pytestmark = pytest.mark.django_db
floats = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(vector=arrays(np.float32, st.integers(0, 40), elements=floats))
def test_a_vector_arrives_as_it_is(vector: np.ndarray[tuple[int], np.dtype[np.float32]]) -> None:
    ((back,),) = run_prepared("SELECT $1::float4[]", [vector])

    assert np.array_equal(np.array(back, dtype=np.float32), vector)


@given(ids=st.lists(st.uuids(), max_size=20))
def test_ids_arrive_as_they_are(ids: list[UUID]) -> None:
    """Those that end in zeros as well, which an array of bytes leaves away."""
    ids = [*ids, UUID(int=0), UUID(int=256)]
    packed = np.array([each.bytes for each in ids], dtype="S16").view(Uuids)

    assert run_prepared("SELECT $1::uuid[]", [packed]) == [(ids,)]


@pytest.mark.parametrize("is_on", [True, False])
def test_it_is_prepared_once_where_that_is_allowed(settings: Settings, is_on: bool) -> None:
    settings.DATABASE_PREPARE = is_on
    statement = f"SELECT $1::int + 41 AS answer_{is_on}"
    for _ in range(3):
        assert run_prepared(statement, [1]) == [(42,)]

    named = run_prepared(
        "SELECT count(*) FROM pg_prepared_statements WHERE statement = $1", [statement]
    )
    assert named == [(int(is_on),)]


def test_an_error_is_that_of_the_orm() -> None:
    with pytest.raises(DatabaseError, match="division by zero"):
        run_prepared("SELECT 1 / $1::int", [0])


def test_it_stands_among_the_statements_that_django_tells() -> None:
    with CaptureQueriesContext(connection) as queries:
        run_prepared("SELECT $1::int", [1])

    assert [each["sql"] for each in queries] == ["SELECT $1::int"]
