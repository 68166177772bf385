"""The form of the retrieval playground: as whom, which question, with which options and weights."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from django import forms
from django.conf import settings
from django.db.models import QuerySet

from memory.domain.audience import Viewer
from memory.domain.packing import MINIMUM_BUDGET
from memory.domain.scoring import Weights
from memory.domain.types import MemoryType
from memory.reading.answers import own_weights
from memory.reading.questions import MAX_QUERY_CHARS, Depth
from memory.satellites.playground.trying import PlanName, Trial
from memory.selectors.conversations import conversation_with
from teams.admin.document_fields import slider_field
from teams.admin.suggestions import SuggestWidget, recently_used
from teams.admin.theme import SelectWidget, TextWidget
from teams.domain.agent_document import MAX_WEIGHT, MOST_TOKEN_BUDGET, SIGNALS, RetrievalWeights
from teams.errors import DomainError, InvalidError, NotFoundError
from teams.models import Agent, EndUser, Project, Team

_MESSAGES = [("", "unless filtered"), ("yes", "always"), ("no", "never")]
_COLD = [("", "no"), ("yes", "yes")]
_YES_NO = {"": None, "yes": True, "no": False}
_OPTIONS = ("token_budget", "limit", "min_score", "include_cold", "include_raw", "memory_types")
_PLANS = [
    (PlanName.RETRIEVE.value, "Memories (/v1/retrieve)"),
    (PlanName.PROMPT.value, "System prompt (/v1/prompt)"),
]


def _number(**options: Any) -> forms.IntegerField:  # Any: a field's own options
    return forms.IntegerField(
        required=False, widget=TextWidget(attrs={"inputmode": "numeric"}), **options
    )


class PlaygroundForm(forms.Form):
    """A question of one team and what it names; with `teams` it offers these to choose from."""

    agent = forms.ModelChoiceField(
        Agent.objects.none(),
        empty_label=None,
        widget=SelectWidget,
        help_text="The agent that would get the answer.",
    )
    person = forms.CharField(
        required=False,
        max_length=200,
        help_text="External id of the person the agent is talking to.",
        widget=SuggestWidget,
    )
    project = forms.ModelChoiceField(
        Project.objects.none(), required=False, empty_label="Any", widget=SelectWidget
    )
    conversation = forms.UUIDField(
        required=False,
        label="Conversation",
        help_text="Id of one of the agent's conversations. Its summary is added to the prompt.",
        widget=TextWidget,
    )
    plan = forms.ChoiceField(choices=_PLANS, label="Result", widget=SelectWidget)
    question = forms.CharField(
        max_length=MAX_QUERY_CHARS,
        required=False,
        widget=TextWidget(attrs={"required": True, "autocomplete": "off"}),
    )
    token_budget = _number(
        min_value=MINIMUM_BUDGET, max_value=MOST_TOKEN_BUDGET, label="Token budget"
    )
    limit = _number(min_value=1, max_value=settings.MAX_ITEMS_PER_REQUEST, label="Limit")
    min_score = forms.FloatField(
        required=False,
        min_value=0,
        max_value=1,
        label="Minimum relevance",
        help_text="0 to 1. Empty: no minimum.",
        widget=TextWidget(attrs={"inputmode": "decimal"}),
    )
    include_cold = forms.ChoiceField(
        choices=_COLD, required=False, label="Cold memories", widget=SelectWidget
    )
    include_raw = forms.ChoiceField(
        choices=_MESSAGES, required=False, label="Messages", widget=SelectWidget
    )
    memory_types = forms.MultipleChoiceField(
        choices=[(kind.value, kind.value.replace("_", " ")) for kind in MemoryType],
        required=False,
        label="Memory types",
        widget=forms.CheckboxSelectMultiple,
    )
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(
        self, *args: Any, team: Team, teams: QuerySet[Team, Team] | None = None, **kwargs: Any
    ) -> None:  # Any: Django's own signature
        super().__init__(*args, **kwargs)
        self.team = team
        if teams is not None:
            self.fields["team"] = forms.ModelChoiceField(
                teams, empty_label=None, initial=team, widget=SelectWidget
            )
        agents = list(Agent.objects.filter(team_id=team.pk))
        # Read once: for its choices and for the weights that empty sliders stand for.
        self._choices("agent").queryset = Agent.objects.filter(team_id=team.pk)
        self._choices("agent").choices = [(each.pk, str(each)) for each in agents]
        self._choices("project").queryset = Project.objects.filter(team_id=team.pk)
        people: Any = self.fields["person"].widget  # Any: a SuggestWidget
        people.suggestions = recently_used("end_user", team_ids=[team.pk])
        defaults = self._defaults(agents)
        for name in SIGNALS:
            self.fields[f"weight_{name}"] = slider_field(
                label=name.capitalize(), default=defaults[name], most=MAX_WEIGHT
            )

    @property
    def has_options(self) -> bool:
        """Returns whether any option is not at its default, or invalid."""
        return any(self[name].value() or self[name].errors for name in _OPTIONS)

    @property
    def weights(self) -> list[forms.BoundField]:
        """The sliders."""
        return [self[f"weight_{name}"] for name in SIGNALS]

    @property
    def given_weights(self) -> dict[str, float]:
        """The sliders that were moved, by signal."""
        given = {name: self.cleaned_data.get(f"weight_{name}") for name in SIGNALS}
        return {name: value for name, value in given.items() if value is not None}

    def clean_person(self) -> EndUser | None:
        """The person of that external id."""
        external_id = self.cleaned_data["person"]
        if not external_id:
            return None
        person = EndUser.objects.filter(team_id=self.team.pk, external_id=external_id).first()
        if person is None:
            raise forms.ValidationError("The team has no person with this external id.")
        return person

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Take the agent's conversation with that person, and weights that can be used."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        agent = values.get("agent")
        if agent is None:
            return values
        try:
            if values.get("conversation"):
                values["conversation"] = self._conversation(agent, values)
            RetrievalWeights.read({**asdict(own_weights(agent)), **self.given_weights})
        except NotFoundError as error:
            self.add_error("conversation", error.message)
        except InvalidError as error:
            self.add_error(None, error.message)
        return values

    def trial(self) -> Trial:
        """The trial to run; only of a valid form."""
        values = self.cleaned_data
        return Trial(
            agent=values["agent"],
            text=values["question"],
            plan=PlanName(values["plan"]),
            end_user=values["person"],
            project=values["project"],
            conversation=values["conversation"] or None,
            token_budget=values["token_budget"],
            limit=values["limit"],
            memory_types=tuple(values["memory_types"]),
            min_score=values["min_score"],
            weights=self.given_weights,
            depth=Depth(values["include_cold"] == "yes", _YES_NO[values["include_raw"]]),
        )

    def _conversation(self, agent: Agent, values: Mapping[str, Any]) -> Any:
        person = values.get("person")
        viewer = Viewer(
            team_id=self.team.pk,
            actor="",
            agent_id=agent.pk,
            end_user_id=person.pk if person else None,
        )
        return conversation_with(viewer=viewer, conversation_id=values["conversation"])

    def _defaults(self, agents: list[Agent]) -> dict[str, float]:
        """Returns the meaning of an empty weight for the chosen agent, or for the first one."""
        wanted = str(self["agent"].value() or "")
        chosen = [each for each in agents if str(each.pk) == wanted] or agents[:1]
        with suppress(DomainError):
            if chosen:
                return asdict(own_weights(chosen[0]))
        return asdict(Weights())

    def _choices(self, name: str) -> Any:
        return self.fields[name]
