"""Staff logins of every role, and their browsers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client

from memory.models import Memory
from teams.models import Team
from teams.tenancy import team_scope
from tests.factories import MemoryFactory, StaffUserFactory
from tests.support.admin import SignIn, join
from tests.support.cast import Cast, make_cast


@pytest.fixture
def cast(db: None) -> Cast:
    """Acme, without its scope: the pages must find their own."""
    return make_cast("acme")


@pytest.fixture
def others(db: None) -> Cast:
    """Globex, whose rows Acme's staff must never meet."""
    return make_cast("globex")


@pytest.fixture
def inside(cast: Cast) -> Iterator[Cast]:
    """Acme with the test in its scope, to put rows in."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        yield cast


@pytest.fixture
def oslo(inside: Cast) -> Memory:
    """Sarah's profile has a city."""
    return MemoryFactory.create(
        team=inside.team,
        end_user=inside.sarah,
        memory_type="user_profile",
        subject="user.profile.city",
        content="Sarah lives in Oslo.",
    )


@pytest.fixture
def sign_in(db: None) -> SignIn:
    """A browser signed in as a new login with these roles, by team; or as a superuser."""

    def build(*roles: tuple[Team, str], name: str = "ann", superuser: bool = False) -> Client:
        user = StaffUserFactory.create(username=name, is_superuser=superuser)
        for team, role in roles:
            join(user, team, role)
        client = Client()
        client.force_login(user)
        return client

    return build


@pytest.fixture
def viewer_client(cast: Cast, sign_in: SignIn) -> Client:
    """Vera, who may only look."""
    return sign_in((cast.team, "viewer"), name="vera")


@pytest.fixture
def reviewer_client(cast: Cast, sign_in: SignIn) -> Client:
    """Rob, who may act on memories."""
    return sign_in((cast.team, "reviewer"), name="rob")


@pytest.fixture
def admin_client(cast: Cast, sign_in: SignIn) -> Client:
    """Ann, Acme's admin."""
    return sign_in((cast.team, "admin"), name="ann")


@pytest.fixture
def root_client(sign_in: SignIn) -> Client:
    """A superuser."""
    return sign_in(name="root", superuser=True)
