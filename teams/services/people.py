"""Teams, agents and their names, end users and projects, and members of teams.

An agent is looked up by a name that a caller sent through `slug_called`, or by the same rule in SQL
(memory/selectors/names.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from difflib import get_close_matches
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import CharField, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils.functional import SimpleLazyObject

from teams.errors import ConflictError, ForbiddenError, InvalidError, NotFoundError
from teams.ids import new_id
from teams.models import Agent, AgentAlias, EndUser, Membership, Project, Role, StaffUser, Team
from teams.tenancy import team_scope

MAX_SLUG_CHARS = 100
MAX_ALIASES = 20
_END_USER = "SELECT id FROM teams_enduser WHERE team_id = %s AND external_id = %s"


def team_id_of_slug(slug: str) -> UUID | None:
    """The team of that slug, in any scope; None when there is none."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT palimpsest_team_by_slug(%s)", [slug])
        row = cursor.fetchone()
    return row[0] if row else None


def all_team_ids() -> list[UUID]:
    """Every team that may be written, for work that goes round all of them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT palimpsest_all_teams()")
        return [row[0] for row in cursor.fetchall()]


def frozen_team_ids() -> set[UUID]:
    """The teams that are being moved to another deployment, or have moved."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT palimpsest_frozen_teams()")
        return {row[0] for row in cursor.fetchall()}


def slugs_like(slug: str) -> list[str]:
    """Slugs of up to three of all teams that resemble this one, the most similar first."""
    with team_scope(team_ids=all_team_ids(), actor="command"):
        known = list(Team.objects.values_list("slug", flat=True))
    return get_close_matches(slug, known)


def team_ids_of_staff(staff_id: int) -> list[UUID]:
    """The teams a staff login may see: its own, or all for a superuser."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT palimpsest_teams_of_staff(%s)", [staff_id])
        return [row[0] for row in cursor.fetchall()]


_staff_names: ContextVar[Mapping[str, str] | None] = ContextVar("staff_names", default=None)


@contextmanager
def staff_named(*, user: StaffUser, team_ids: Sequence[UUID]) -> Iterator[None]:
    """Names for `staff_name` in the block: of the login and the members of these teams.

    They are read when the first is asked for, in the scope of that moment.
    """

    def read() -> dict[str, str]:
        members = StaffUser.objects.filter(memberships__team_id__in=team_ids)
        return {each.get_username(): each.get_full_name() for each in [*members, user]}

    token = _staff_names.set(SimpleLazyObject(read))  # type: ignore[arg-type]  # acts as a dict
    try:
        yield
    finally:
        _staff_names.reset(token)


def staff_name(username: str) -> str:
    """Returns the full name of a login, or the username where no name is known."""
    names = _staff_names.get()
    return (names.get(username) if names is not None else None) or username


def create_team(*, slug: str, name: str, actor: str) -> Team:
    """Create a team; raises IntegrityError for a slug that is taken."""
    team_id = new_id()
    with team_scope(team_ids=[team_id], actor=actor):
        return Team.objects.create(id=team_id, slug=slug, name=name or slug)


def ensure_team(*, slug: str, actor: str) -> UUID:
    """The team of that slug, created when it is new, by whoever comes first."""
    known = team_id_of_slug(slug)
    if known is not None:
        return known
    try:
        return create_team(slug=slug, name=slug, actor=actor).id
    except IntegrityError:
        found = team_id_of_slug(slug)
        if found is None:
            raise
        return found


def ensure_agent(*, team_id: UUID, slug: str) -> Agent:
    """The team's agent of that slug or alias, created when new; raises InvalidError."""
    return find_or_create_agent(team_id=team_id, slug=slug)[0]


def find_or_create_agent(*, team_id: UUID, slug: str, field: str = "agent") -> tuple[Agent, bool]:
    """As `ensure_agent`, and whether this call created it; `field` is what named it."""
    known = agent_called(team_id=team_id, name=slug)
    if known is not None:
        return known, False
    check_new_slug(slug, field=field)
    name = slug.replace("-", " ").replace("_", " ").title()
    return Agent.objects.get_or_create(
        team_id=team_id,
        slug=slug,
        defaults={"name": name, "summarize_interval": settings.SUMMARIZE_INTERVAL},
    )


def check_new_slug(slug: str, *, field: str = "agent") -> None:
    """Raises InvalidError for a new agent's slug with spaces: it is part of addresses."""
    words = slug.split()
    if len(words) > 1:
        raise InvalidError(
            f"There is no agent '{slug}', and a new one is called by one word without spaces, such"
            f" as '{'-'.join(words).lower()}'. The name in its document may have spaces.",
            field=field,
        )


def slug_called(*, team_id: UUID, name: str) -> Coalesce:
    """The slug of the agent that goes by this name, and else the name itself, for a filter."""
    known = AgentAlias.objects.filter(team_id=team_id, slug=name)
    return Coalesce(
        Subquery(known.values("agent__slug")[:1]), Value(name), output_field=CharField()
    )


def agent_called(*, team_id: UUID, name: str) -> Agent | None:
    """The team's agent of that slug or alias; call it in the team's scope."""
    slug = slug_called(team_id=team_id, name=name)
    return Agent.objects.filter(team_id=team_id, slug=slug).first()


def aliases_among(*, team_id: UUID, names: Collection[str]) -> Mapping[str, UUID]:
    """The agents' ids by those of the names that are aliases; call it in the team's scope."""
    rows = AgentAlias.objects.filter(team_id=team_id, slug__in=names)
    return dict(rows.values_list("slug", "agent_id"))


def aliases_of(*, agent: Agent) -> list[str]:
    """The agent's aliases in order; call it in the team's scope."""
    rows = AgentAlias.objects.filter(team_id=agent.team_id, agent_id=agent.pk).order_by("slug")
    return list(rows.values_list("slug", flat=True))


def check_aliases(*, team_id: UUID, agent_id: UUID | None, names: Sequence[str]) -> None:
    """Raises InvalidError for names that could not be aliases of the agent, None for a new one."""
    if len(names) > MAX_ALIASES:
        raise InvalidError(f"An agent has at most {MAX_ALIASES} aliases.", field="aliases")
    for name in names:
        if not name.isprintable() or not name.strip() or len(name.split()) > 1:
            raise InvalidError(
                "An alias is one word without spaces, such as an old slug.", field="aliases"
            )
        if len(name) > MAX_SLUG_CHARS:
            raise InvalidError(
                f"An alias has at most {MAX_SLUG_CHARS} characters.", field="aliases"
            )
    slugs = Agent.objects.filter(team_id=team_id, slug__in=names).values_list("slug", flat=True)
    aliases = aliases_among(team_id=team_id, names=names)
    taken = [*slugs, *(name for name, owner in aliases.items() if owner != agent_id)]
    if taken:
        raise InvalidError(
            f"The team has an agent called '{min(taken)}' already. A name means one agent.",
            field="aliases",
        )


def set_aliases(*, agent: Agent, names: Sequence[str], actor: str) -> None:
    """Makes these the agent's aliases, and no others; raises as `check_aliases`."""
    check_aliases(team_id=agent.team_id, agent_id=agent.pk, names=names)
    with transaction.atomic():
        rows = AgentAlias.objects.filter(team_id=agent.team_id, agent_id=agent.pk)
        rows.exclude(slug__in=names).delete()
        stored = set(rows.values_list("slug", flat=True))
        AgentAlias.objects.bulk_create(
            AgentAlias(team_id=agent.team_id, agent_id=agent.pk, slug=name, actor=actor)
            for name in dict.fromkeys(names)
            if name not in stored
        )


def ensure_end_user(*, team_id: UUID, external_id: str, display_name: str = "") -> EndUser:
    """The team's end user of that external id, created when new, with this display name if any."""
    end_user, _ = EndUser.objects.get_or_create(
        team_id=team_id, external_id=external_id, defaults={"display_name": display_name}
    )
    if display_name and end_user.display_name != display_name:
        end_user.display_name = display_name
        end_user.save(update_fields=["display_name"])
    return end_user


def ensure_end_users(
    *, team_id: UUID, external_ids: Collection[str], new_role: str = ""
) -> dict[str, EndUser]:
    """End users by external id; new ones, of that role, are created in order against deadlocks."""
    known = EndUser.objects.filter(team_id=team_id, external_id__in=external_ids)
    found = {each.external_id: each for each in known}
    for external_id in sorted(set(external_ids) - found.keys()):
        found[external_id], _ = EndUser.objects.get_or_create(
            team_id=team_id, external_id=external_id, defaults={"role": new_role}
        )
    return found


def change_person(
    *, person: EndUser, has_insights: bool | None = None, role: Role | None = None
) -> None:
    """Change what is given of a person; call it in the team's scope."""
    if has_insights is not None:
        person.has_insights = has_insights
    if role is not None:
        person.role = role
    person.save(update_fields=["has_insights", "role"])


def set_person_role(*, team_id: UUID, role: Role) -> None:
    """Set what people are to the team of whom nobody says; call it in the team's scope."""
    Team.objects.filter(pk=team_id).update(person_role=role)


def ensure_end_user_id(*, team_id: UUID, external_id: str) -> UUID:
    """The id of `ensure_end_user`, by a plain statement where the person is known."""
    with connection.cursor() as cursor:
        cursor.execute(_END_USER, [team_id, external_id])
        row = cursor.fetchone()
    if row is not None:
        found: UUID = row[0]
        return found
    return ensure_end_user(team_id=team_id, external_id=external_id).pk


def ensure_project(*, team_id: UUID, slug: str, among: Collection[UUID] = ()) -> Project:
    """The team's project of that slug, created when new; NotFoundError unless `among` these."""
    if among and not Project.objects.filter(team_id=team_id, slug=slug, pk__in=among).exists():
        raise NotFoundError(f"There is no project '{slug}' for this key.", field="project")
    project, _ = Project.objects.get_or_create(team_id=team_id, slug=slug, defaults={"name": slug})
    return project


def change_project(
    *, project: Project, name: str | None = None, max_items: int | None = None
) -> Project:
    """Set what is given; call it in the team's scope."""
    if name is not None:
        project.name = name
    if max_items is not None:
        project.max_items = max_items
    project.save(update_fields=["name", "max_items"])
    return project


class LastAdminError(ConflictError):
    """It would leave a team without an admin; nothing was changed."""


def create_login(
    *, username: str, now: datetime, first_name: str = "", last_name: str = "", email: str = ""
) -> StaffUser:
    """Create a login to the admin without a password; its owner sets one by a one-time link."""
    names = {"first_name": first_name, "last_name": last_name}
    return StaffUser.objects.create_user(username, email, is_staff=True, invited_at=now, **names)


def invite_again(*, user: StaffUser, inviter_team_ids: Collection[UUID], now: datetime) -> None:
    """Ends the earlier links of an invited login, so that only a new one sets its password.

    Raises ForbiddenError for a login that also belongs to a team outside `inviter_team_ids`, those
    in which the inviter is an admin; ConflictError for one that has a password or was not invited.
    """
    with transaction.atomic():
        stored = StaffUser.objects.select_for_update().get(pk=user.pk)
        if not (stored.link_expires_at and stored.is_active and stored.is_staff):
            raise ConflictError(
                "Only a login that has never had a password or signed in is invited again."
            )
        if stored.is_superuser or not set(team_ids_of_staff(user.pk)) <= set(inviter_team_ids):
            raise ForbiddenError(
                "This login belongs to other teams too. Ask the operator of the server."
            )
        # A new unusable password, on which the tokens of links depend.
        stored.set_unusable_password()
        stored.invited_at = now
        stored.save(update_fields=["password", "invited_at"])
    user.password, user.invited_at = stored.password, stored.invited_at


def change_role(*, member: Membership, role: str) -> None:
    """Gives the member another role; raises LastAdminError for the team's last admin."""
    with transaction.atomic():
        if role != Membership.Role.ADMIN:
            check_other_admins(user_id=member.user_id, team_ids=[member.team_id])
        Membership.objects.filter(team_id=member.team_id, pk=member.pk).update(role=role)
    member.role = role


def remove_member(*, member: Membership) -> None:
    """Take the member out of the team; LastAdminError for its last admin. Call it in scope.

    The login remembers the team, whose admins may take it back.
    """
    with transaction.atomic():
        check_other_admins(user_id=member.user_id, team_ids=[member.team_id])
        user = StaffUser.objects.select_for_update().get(pk=member.user_id)
        if member.team_id not in user.former_team_ids:
            user.former_team_ids.append(member.team_id)
            user.save(update_fields=["former_team_ids"])
        Membership.objects.filter(team_id=member.team_id, pk=member.pk).delete()


def check_login_is_not_needed(*, user: StaffUser) -> None:
    """Raises LastAdminError if this login is the last admin of any team."""
    with team_scope(team_ids=team_ids_of_staff(user.pk), actor="staff"):
        teams = Membership.objects.filter(user_id=user.pk).values_list("team_id", flat=True)
        check_other_admins(user_id=user.pk, team_ids=list(teams))


def check_other_admins(*, user_id: int, team_ids: Collection[UUID]) -> None:
    """Raises LastAdminError for a team's last admin; locks the teams (see sql/last_admin.sql)."""
    teams = Team.objects.select_for_update(no_key=True).filter(pk__in=team_ids).order_by("pk")
    found = list(teams)
    admins = Membership.objects.filter(
        team_id__in=team_ids,
        role=Membership.Role.ADMIN,
        user__is_active=True,
        user__is_staff=True,
    )
    by_team: dict[UUID, set[int]] = {}
    for team_id, admin_id in admins.values_list("team_id", "user_id"):
        by_team.setdefault(team_id, set()).add(admin_id)
    needed = [team.name for team in found if by_team.get(team.pk) == {user_id}]
    if needed:
        raise LastAdminError(
            f"This is the last admin of {', '.join(needed)}: name another admin first.",
            field="role",
        )
