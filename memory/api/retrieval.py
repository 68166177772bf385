"""Reads of an agent: the memories for a question, and the whole system prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework import serializers

from memory.api.base import ApiViewSet, Given, operation
from memory.api.contradictions import ContradictionSerializer
from memory.api.fields import ContentField, QuestionField, TextField
from memory.api.found import (
    BRIEF,
    FULL,
    FullRetrievalSerializer,
    PackedMemorySerializer,
    PackedMessageSerializer,
    ReadOptionsSerializer,
    RetrievalSerializer,
    RetrieveSerializer,
    StatsSerializer,
    brief_contradiction_json,
    brief_memory_json,
    brief_message_json,
    packed_memory_json,
    packed_message_json,
    stats_json,
)
from memory.api.rendering import Json, answer_form, json_response
from memory.api.request_events import context_event
from memory.api.schemas import ApiSerializer, StrictSerializer
from memory.clients.token_counters import counter_for
from memory.domain.audience import Viewer
from memory.domain.plans.documents import Document
from memory.domain.plans.plan import LAYERS
from memory.domain.scoring import Weights
from memory.domain.types import MemoryType
from memory.domain.updates import Kind
from memory.reading.answers import Prompt, budget_for, own_weights, weights_of
from memory.reading.cache import Sent
from memory.reading.packing import Packing
from memory.reading.questions import Depth, Question, Read, of_types
from memory.reading.retrieval import retrieve
from memory.reading.seven_layers import (
    BuiltPrompt,
    News,
    build_prompt,
    prompt_without_memory,
    send_prompt,
    with_documents,
    with_news,
)
from memory.selectors.conversations import conversation_with, viewer_in
from memory.understanding.tools import default_tools
from teams.errors import NotFoundError
from teams.models import Agent, Conversation

LAYER_NAMES = [(layer.value, layer.value) for layer in LAYERS]


MAX_DOCUMENTS = 100
_MAX_NAME_CHARS = 500


class DocumentSerializer(StrictSerializer):
    """A text that the caller found elsewhere; the prompt quotes it apart from memory."""

    text = ContentField()
    title = TextField(required=False, default="", allow_blank=True, max_length=_MAX_NAME_CHARS)
    source = TextField(  # type: ignore[assignment]  # a field of this name
        required=False,
        default="",
        allow_blank=True,
        max_length=_MAX_NAME_CHARS,
        help_text="Where it is from, such as an address.",
    )


class DocumentsField(serializers.ListField):
    """A list of documents."""

    child = DocumentSerializer()

    def __init__(self, **kwargs: Any) -> None:  # Any: DRF's own options
        super().__init__(**{"max_length": MAX_DOCUMENTS, **kwargs})


class PromptSerializer(ReadOptionsSerializer):
    """The agent, question, conversation and token budget of a prompt."""

    example = {
        "agent": "kyra",
        "user": "sarah",
        "query": "What does Sarah drink?",
        "token_budget": 2000,
    }

    query = QuestionField(help_text="The message the agent is to answer.")
    documents = DocumentsField(
        required=False,
        allow_null=True,
        help_text="Told after the layers as RELEVANT CONTEXT, in at most 30 per cent of the budget;"
        " the first ones go before the others.",
    )


class LayerSerializer(ApiSerializer):
    """One of the seven layers; an empty one has no tokens."""

    layer = serializers.IntegerField(source="number", help_text="1-7")
    name = serializers.ChoiceField(choices=LAYER_NAMES)
    tokens = serializers.IntegerField(
        help_text="Including headings; the layers' tokens and those of the documents add up to the"
        " prompt's."
    )
    memories = serializers.IntegerField(help_text="How many memories it contains.")


class TrimmedLayerSerializer(ApiSerializer):
    """The part of a layer cut to fit the budget; layers are trimmed in the order 7, 6, 5, 4."""

    layer = serializers.IntegerField(source="number")
    name = serializers.ChoiceField(choices=LAYER_NAMES)
    count = serializers.IntegerField(source="cut", help_text="How many memories or texts were cut.")
    tokens = serializers.IntegerField(source="cut_tokens")


class PromptMemorySerializer(PackedMemorySerializer):
    """A memory in the prompt, with the layer it stands in."""

    layer = serializers.IntegerField()


class PromptStatsSerializer(StatsSerializer):
    """Figures about the prompt."""

    duplicates = serializers.IntegerField(help_text="Left out: another one says the same.")


class UpdateSerializer(ApiSerializer):
    """One bullet: what changed about a memory."""

    kind = serializers.ChoiceField(choices=[(kind.value, kind.value) for kind in Kind])
    memory = serializers.UUIDField(source="memory.memory_id")
    importance = serializers.IntegerField(source="memory.importance")


class UpdatesSerializer(ApiSerializer):
    """The first lines of the prompt: what changed after revision `since`."""

    since = serializers.IntegerField()
    revision = serializers.IntegerField(help_text="Changes up to it are now reported.")
    text = serializers.CharField()
    tokens = serializers.IntegerField(help_text="Included in those of layer 1.")
    changes = UpdateSerializer(source="told", many=True)


class ToldDocumentsSerializer(ApiSerializer):
    """The section of the documents, after the layers."""

    tokens = serializers.IntegerField(help_text="Beside those of the layers.")
    told = serializers.IntegerField()
    shortened = serializers.IntegerField(help_text="Of which the beginning alone is told.")
    cut = serializers.IntegerField(help_text="How many found no room.")


class BuiltPromptSerializer(ApiSerializer):
    """An agent's system prompt and its parts."""

    prompt = serializers.CharField(
        help_text='A line has the person\'s own name, if known, where the memory says "User".'
    )
    updates = UpdatesSerializer(
        allow_null=True, help_text="null without a conversation, or when nothing has changed."
    )
    layers = LayerSerializer(many=True)
    trimmed = TrimmedLayerSerializer(many=True, help_text="In the order of trimming.")
    memories = PromptMemorySerializer(many=True)
    messages = PackedMessageSerializer(many=True, help_text="Quoted messages, in layer 5.")
    contradictions = ContradictionSerializer(many=True)
    documents = ToldDocumentsSerializer(allow_null=True, help_text="null where none were passed.")
    warnings = serializers.ListField(child=serializers.CharField())
    stats = PromptStatsSerializer()


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as `ReadOptionsSerializer` describes it, its names looked up.

    The viewer of `read` is narrowed to the user and project of the `conversation` where the
    request names none. `given_weights` are None where the request has none.
    """

    read: Read
    agent: Agent
    conversation: Conversation | None
    token_budget: int
    memory_types: tuple[str, ...]
    given_weights: Weights | None

    @property
    def weights(self) -> Weights:
        """Returns the weights of the request, or else of the agent; raises InvalidError."""
        return self.given_weights or own_weights(self.agent)


class ReadViewSet(ApiViewSet):
    """A viewset that answers an agent's question."""

    only_reads = True
    confirms_keys = True

    def asked(self, given: Given) -> Asked:
        """Returns the question that the validated input asks.

        Raises NotFoundError for an unknown agent or conversation, ForbiddenError for another agent
        than the key's, and InvalidError for an agent whose own budget cannot be used.
        """
        viewer, agent = self.named_agent(given)
        conversation = None
        if given.get("conversation") or given.get("thread_id") is not None:
            with self.team_scope():
                conversation = _named_conversation(viewer, agent, given)
            viewer = viewer_in(viewer, conversation)
        memory_types = tuple(dict.fromkeys(given.get("memory_types") or ()))
        return Asked(
            read=Read(
                viewer=viewer,
                question=Question(given["query"], conversation.pk if conversation else None),
                tools=default_tools(),
                now=timezone.now(),
                limit=given.get("limit"),
                depth=Depth(
                    given.get("include_cold", False),
                    given.get("include_raw"),
                    include_private=MemoryType.AGENT_PRIVATE in memory_types,
                ),
                rows=of_types(memory_types),
                min_score=given.get("min_score"),
            ),
            agent=agent,
            conversation=conversation,
            token_budget=budget_for(agent, given.get("token_budget")),
            memory_types=memory_types,
            given_weights=weights_of(given["weights"]) if given.get("weights") else None,
        )


def _named_conversation(viewer: Viewer, agent: Agent, given: Mapping[str, Any]) -> Conversation:
    """The conversation that the request names by its id, or by its thread and user."""
    if given.get("conversation"):
        return conversation_with(viewer=viewer, conversation_id=given["conversation"])
    rows = Conversation.objects.filter(
        team_id=viewer.team_id,
        agent=agent,
        end_user_id=viewer.end_user_id,
        thread_id=given["thread_id"],
    )
    found = rows.select_related("agent", "end_user", "project").first()
    if found is None:
        raise NotFoundError("There is no such conversation.", field="thread_id")
    return found


class RetrievalViewSet(ReadViewSet):
    """The read path."""

    operations = {"retrieve": ("context", "context")}
    memory_actions = ("retrieve",)

    @operation(
        body=RetrieveSerializer,
        answer=PolymorphicProxySerializer(
            component_name="RetrievalAnswer",
            serializers=[RetrievalSerializer, FullRetrievalSerializer],
            resource_type_field_name=None,
        ),
    )
    def retrieve(self, given: Given) -> HttpResponse:
        """The memories an agent needs for a question, within a token budget, and as a prompt.

        What the prompt tells is listed briefly; with `return: full` each memory, message and
        contradiction has all its fields. What `POST /v1/context/predict` predicted for the same
        agent, user and project in the last 15 minutes is among the candidates; what is likelier
        than not to be needed is told whatever is asked.
        """
        asked = self.asked(given)
        read = asked.read
        is_full = given["return"] == FULL
        sent = retrieve(
            read,
            packing=Packing(
                weights=asked.weights,
                token_budget=asked.token_budget,
                counter=counter_for(asked.agent.model_config),
            ),
            render=_in_full if is_full else _briefly,
            form=answer_form(FullRetrievalSerializer if is_full else RetrievalSerializer),
        )
        self.noted([context_event(read.viewer, sent, read.question.conversation_id)])
        return json_response(sent.body | {"stats": stats_json(sent.stats, without="duplicates")})


class PromptViewSet(ReadViewSet):
    """The seven layers."""

    operations = {"build": ("context", "context")}

    @operation(body=PromptSerializer, answer=BuiltPromptSerializer)
    def build(self, given: Given) -> HttpResponse:
        """An agent's system prompt for a question, in seven layers, within a token budget.

        The layers: personality, identity memories, skills, the user's profile, retrieved memories,
        team knowledge, the conversation's summary. Layers 7, 6, 5 and 4 are trimmed in this order;
        layers 1 to 3 and pinned memories never are, with a warning if they alone exceed the budget.
        In a conversation the prompt begins with changes of its memories since its last prompt, in
        at most three bullets, each reported once. `documents` are told after the layers, apart
        from memory. For a team with memory switched off the prompt is the agent's document and
        these alone, with a warning.
        """
        asked = self.asked(given)
        read, agent, conversation = asked.read, asked.agent, asked.conversation
        viewer, token_budget = read.viewer, asked.token_budget
        counter = counter_for(agent.model_config)
        documents = [Document(**each) for each in given.get("documents") or ()]
        if not self.principal.flags.memory:
            built = with_documents(
                documents,
                token_budget=token_budget,
                counter=counter,
                build=lambda left: prompt_without_memory(
                    agent=agent, token_budget=left, counter=counter
                ),
            )
            return _prompt_response(_prompt_json(built), built)
        options: dict[str, Any] = {  # Any: keyword arguments of every type
            "agent": agent,
            "weights": asked.weights,
            "counter": counter,
        }

        def build(budget: int) -> BuiltPrompt:
            return with_documents(
                documents,
                token_budget=budget,
                counter=counter,
                build=lambda left: build_prompt(
                    read, **options, conversation=conversation, token_budget=left
                ),
            )

        if conversation is None and documents:
            # What a caller passes along with one question is not worth keeping.
            built = build(token_budget)
            self.noted([context_event(viewer, built, None)])
            return _prompt_response(_prompt_json(built), built)
        if conversation is None:
            sent = send_prompt(
                read,
                **options,
                token_budget=token_budget,
                render=_prompt_json,
                form=answer_form(BuiltPromptSerializer),
            )
            self.noted([context_event(viewer, sent, None)])
            return _prompt_response(sent.body, sent)
        built, news = with_news(
            viewer=viewer,
            conversation_id=conversation.pk,
            counter=counter,
            token_budget=token_budget,
            build=build,
        )
        self.noted([context_event(viewer, built, conversation.pk)])
        return _prompt_response(_prompt_json(built, news), built)


def _briefly(found: Prompt) -> Json:
    """Renders a `RetrievalSerializer` by hand, without its stats."""
    return {
        "return": BRIEF,
        "memories": [brief_memory_json(each) for each in found.memories],
        "messages": [brief_message_json(each) for each in found.messages],
        "formatted_prompt": found.formatted_prompt,
        "contradictions": [brief_contradiction_json(each) for each in found.contradictions],
    }


def _in_full(found: Prompt) -> Json:
    """Renders a `FullRetrievalSerializer` by hand, without its stats."""
    return {
        "return": FULL,
        "memories": [packed_memory_json(each) for each in found.memories],
        "messages": [packed_message_json(each) for each in found.messages],
        "formatted_prompt": found.formatted_prompt,
        "contradictions": [ContradictionSerializer(each).data for each in found.contradictions],
    }


def _prompt_json(built: BuiltPrompt, news: News | None = None) -> Json:
    """Renders a `BuiltPromptSerializer` by hand, without its stats."""
    found, layers = built.retrieval, built.layer_of
    return {
        "prompt": built.prompt,
        "updates": UpdatesSerializer(news).data if news is not None and news.text else None,
        "layers": LayerSerializer(built.layers, many=True).data,
        "trimmed": TrimmedLayerSerializer(built.trimmed, many=True).data,
        "memories": [
            {**packed_memory_json(each), "layer": layers[each.id]} for each in found.memories
        ],
        "messages": [packed_message_json(each) for each in found.messages],
        "contradictions": [ContradictionSerializer(each).data for each in found.contradictions],
        "documents": ToldDocumentsSerializer(built.documents).data if built.documents else None,
        "warnings": list(built.warnings),
    }


def _prompt_response(body: Json, told: BuiltPrompt | Sent) -> HttpResponse:
    return json_response(body | {"stats": stats_json(told.stats, without="warnings")})
