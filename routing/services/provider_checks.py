"""Trying a team's provider out, for whoever has just entered it."""

from __future__ import annotations

from dataclasses import dataclass

from routing.clients.endpoint_checks import EndpointCheck, check_endpoint
from routing.domain.endpoints import problem_with_url
from routing.models import ChatModel, Provider
from routing.services.models import provider_key
from teams.models import Team


@dataclass(frozen=True, slots=True)
class ProviderCheck:
    """A provider that is to be asked, with its key and the team's models of it."""

    base_url: str
    timeout: float
    models: tuple[str, ...]
    api_key: str = ""
    problem: str = ""

    def run(self) -> EndpointCheck:
        """Ask the endpoint; call it outside of any transaction. Never raises."""
        if self.problem:
            return EndpointCheck(False, f"Nothing was sent: {self.problem}", 0)
        return check_endpoint(
            base_url=self.base_url,
            api_key=self.api_key,
            timeout=self.timeout,
            model=self.models[0] if self.models else "",
            listed=self.models,
        )


def prepare_check(*, provider: Provider, team: Team) -> ProviderCheck:
    """What a check of the provider needs; call it in the team's scope."""
    key, problem = provider_key(provider=provider, team=team)
    rows = ChatModel.objects.filter(team_id=team.pk, provider_id=provider.pk, is_enabled=True)
    return ProviderCheck(
        base_url=provider.base_url,
        timeout=provider.timeout_seconds,
        models=tuple(rows.order_by("priority", "name").values_list("name", flat=True)),
        api_key=key,
        problem=problem_with_url(provider.base_url) or problem,
    )
