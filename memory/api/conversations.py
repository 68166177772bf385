"""Conversations: their messages, extractions, compactions and jobs."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.response import Response

from memory.api.base import WITH_CONFLICT, ApiViewSet, Given, operation
from memory.api.fields import (
    ContentField,
    IdsField,
    NameField,
    OneOfField,
    PastDateTimeField,
    StrictBooleanField,
    StrictIntegerField,
)
from memory.api.pagination import PositionPagination
from memory.api.schemas import (
    MAX_TOKEN_BUDGET,
    PER_REQUEST,
    ApiSerializer,
    DatedPageQuerySerializer,
    PageQuerySerializer,
    StrictSerializer,
    check_total_length,
    page_schema,
)
from memory.models import Job
from memory.models.memory import SOURCES
from memory.selectors.conversations import conversation_for, job_for, messages_of
from memory.selectors.people import ListFilters, filtered_conversations
from memory.understanding.tools import default_tools
from memory.writing.compaction import compact_conversation
from memory.writing.jobs import start_extraction
from memory.writing.posting import close_conversation, open_conversation, post_messages
from memory.writing.stating import source_of_message
from memory.writing.waiting import StillExtractingError, extract_now, skipped_warnings
from teams.models import Message
from teams.models.conversations import MAX_THREAD_CHARS, ROLES
from teams.services.conversations import NewMessage


class NewConversationSerializer(StrictSerializer):
    """The parties of a conversation; agent, user and project are created when new."""

    example = {"agent": "kyra", "user": "sarah", "user_name": "Sarah", "thread_id": "tea"}

    agent = NameField()
    user = NameField(max_length=200)
    user_name = NameField(
        required=False,
        allow_null=True,
        max_length=200,
        help_text="What the user is called. It is kept, takes the place of a name given before, and"
        ' is told where a memory says "User".',
    )
    project = NameField(required=False, allow_null=True)
    thread_id = NameField(required=False, allow_null=True, max_length=MAX_THREAD_CHARS)


class ConversationFilterSerializer(DatedPageQuerySerializer):
    """Filters of the list of conversations; all must match."""

    agent = NameField(required=False)
    user = NameField(required=False, max_length=200)
    project = NameField(required=False)
    thread_id = NameField(required=False, max_length=MAX_THREAD_CHARS)


class NewMessageSerializer(StrictSerializer):
    """One message; its content is kept verbatim."""

    role = OneOfField(choices=ROLES)
    source = OneOfField(  # type: ignore[assignment]  # DRF fields have a `source` too
        choices=SOURCES,
        required=False,
        help_text="Who says it, where that is weaker than the role: `web` for a page that a tool"
        " read or a user pasted. By role: `person` for `user`, `tool` for `tool`, else `agent`."
        " What a tool or a page alone says is unconfirmed, and its messages are not searched.",
    )
    content = ContentField()
    name = NameField(required=False, allow_blank=True, allow_null=True, max_length=200)
    created_at = PastDateTimeField(required=False, allow_null=True)
    external_id = NameField(
        required=False,
        allow_null=True,
        max_length=200,
        help_text="The caller's own id for it. Sent again with the same text it is not stored"
        " again, with another text it is refused (409).",
    )


class NewMessagesSerializer(StrictSerializer):
    """1 to 500 messages, in the order they were said, of up to 2,000,000 characters in all."""

    example = {
        "messages": [
            {"role": "user", "content": "I moved to Oslo last week.", "external_id": "m-1"},
            {"role": "assistant", "content": "How do you like it there?"},
        ]
    }

    messages = serializers.ListField(
        child=NewMessageSerializer(), min_length=1, max_length=PER_REQUEST
    )

    def validate_messages(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        check_total_length(each["content"] for each in value)
        return value


class ExtractSerializer(StrictSerializer):
    """The choice to wait for the result."""

    example = {"wait": True}

    wait = StrictBooleanField(required=False, default=False)


class CompactSerializer(StrictSerializer):
    """The end of the conversation to keep: a number of messages, or as many as fit."""

    keep_last = StrictIntegerField(required=False, min_value=0, max_value=1_000_000)
    max_tokens = StrictIntegerField(required=False, min_value=0, max_value=MAX_TOKEN_BUDGET)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) != 1:
            raise serializers.ValidationError(
                {"keep_last": ["Give either keep_last or max_tokens."]}
            )
        return attrs


class ConversationSerializer(ApiSerializer):
    """One thread between an agent and an end user."""

    id = serializers.UUIDField()
    agent = serializers.CharField(source="agent.slug")
    user = serializers.CharField(source="end_user.external_id")
    project = serializers.CharField(source="project.slug", default=None, allow_null=True)
    thread_id = serializers.CharField()
    revision = serializers.IntegerField()
    created_at = serializers.DateTimeField()


class MessageSerializer(ApiSerializer):
    """One message as it was said."""

    id = serializers.UUIDField()
    position = serializers.IntegerField(help_text="1 for the first message of the conversation.")
    role = serializers.ChoiceField(choices=ROLES)
    source = serializers.SerializerMethodField()  # type: ignore[assignment]  # as above
    content = serializers.CharField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()
    external_id = serializers.CharField(allow_null=True)

    @extend_schema_field(serializers.ChoiceField(choices=SOURCES))
    def get_source(self, message: Message) -> str:
        return source_of_message(message).value


class MessageListSerializer(ApiSerializer):
    """Stored messages, in the order they were sent."""

    messages = MessageSerializer(many=True)


class ExtractionSerializer(ApiSerializer):
    """The result of an extraction."""

    created = serializers.IntegerField()
    versioned = serializers.IntegerField()
    duplicates_skipped = serializers.IntegerField()
    contradictions_found = serializers.IntegerField()
    pass1_count = serializers.IntegerField()
    pass2_additions = serializers.IntegerField()
    extractor = serializers.CharField(
        help_text="The extractors that were used, joined by +, or that would have been."
    )
    pass1_extractor = serializers.CharField(default="", help_text="Empty without messages.")
    pass2_extractor = serializers.CharField(default="")
    memories = IdsField()
    secrets_masked = serializers.IntegerField(
        default=0, help_text="How many candidates had a key, password or card number masked."
    )
    held_for_consent = serializers.IntegerField(
        help_text="Changes of a person's profile that wait for a yes as consent requests."
    )
    left_out = serializers.IntegerField(
        default=0,
        help_text="How many candidates the caps kept out; the next background run writes them.",
    )
    refused = serializers.DictField(
        child=serializers.IntegerField(),
        default=dict,
        help_text="How many candidates may not be stored, by reason: badly worded, of unknown"
        " messages, or with a number, name or words that no message says.",
    )
    repaired = serializers.DictField(
        child=serializers.IntegerField(),
        default=dict,
        help_text="Fields of candidates that were put right before they were stored, by reason.",
    )
    messages_read = serializers.IntegerField(default=0, help_text="Messages that both passes read.")
    extraction_seconds = serializers.FloatField(default=0.0, help_text="How long both passes took.")
    extraction_cost_usd = serializers.FloatField(default=0.0, help_text="Cost of both passes.")
    seconds_per_message = serializers.FloatField(default=0.0)
    cost_usd_per_message = serializers.FloatField(default=0.0)
    warnings = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        help_text="Where a small model replaced the language model, and why.",
    )


class RangeSerializer(ApiSerializer):
    """Positions of messages, both ends included; zeros when there are none."""

    from_ = serializers.IntegerField(source="first")
    to = serializers.IntegerField(source="last")
    count = serializers.IntegerField()


class CompactedSerializer(ApiSerializer):
    """A compaction: the context may now hold just the summary and the kept messages."""

    summary = serializers.CharField()
    kept = MessageSerializer(many=True)
    compacted = RangeSerializer(source="*")
    extraction = ExtractionSerializer()


class JobSerializer(ApiSerializer):
    """Background work and, once done, its result."""

    id = serializers.UUIDField()
    conversation = serializers.UUIDField(source="conversation_id")
    state = serializers.ChoiceField(
        choices=Job.State.choices,
        help_text="`queued`, `running`, `done`; `failed` where a service stayed away, until the"
        " next extraction; `set_aside` where its messages fail, until an admin retries. Such"
        " messages are cut out of a job: what is behind them is extracted by jobs of their own.",
    )
    messages = serializers.IntegerField(help_text="How many messages it covers, by now.")
    messages_done = serializers.IntegerField(help_text="How many of them are extracted so far.")
    attempts = serializers.IntegerField()
    error = serializers.CharField()
    result = serializers.SerializerMethodField()
    warnings = serializers.SerializerMethodField(
        help_text="Which messages of its conversation are skipped."
    )
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)

    @extend_schema_field(ExtractionSerializer(allow_null=True))
    def get_result(self, job: Job) -> dict[str, Any] | None:
        return job.result if job.state == Job.State.DONE else None

    def get_warnings(self, job: Job) -> list[str]:
        jobs = Job.objects.extractions().filter(
            team_id=job.team_id, conversation_id=job.conversation_id
        )
        return list(skipped_warnings(jobs=jobs))


class QueuedJobSerializer(ApiSerializer):
    """The job to poll for the result."""

    job = serializers.UUIDField()


ConversationPage = page_schema("ConversationPage", ConversationSerializer)
MessagePage = page_schema("MessagePage", MessageSerializer)


class ConversationViewSet(ApiViewSet):
    """Conversations of an agent with an end user."""

    lookup_value_converter = "uuid"
    memory_actions = ("extract", "compact")

    @operation(
        body=NewConversationSerializer,
        answer={
            201: ConversationSerializer,
            200: (ConversationSerializer, "The existing conversation of this thread."),
        },
        refuses=(403, 422),
    )
    def create(self, given: Given) -> Response:
        """Start a conversation; the same agent, user and thread_id return the existing one."""
        with self.team_scope():
            conversation, is_new = open_conversation(
                team_id=self.principal.team_id,
                agent=given["agent"],
                user=given["user"],
                project=given.get("project"),
                thread_id=given.get("thread_id"),
                user_name=given.get("user_name") or "",
                project_ids=self.principal.project_ids,
            )
            shown = ConversationSerializer(conversation).data
        return Response(shown, status=status.HTTP_201_CREATED if is_new else status.HTTP_200_OK)

    @operation(query=ConversationFilterSerializer, answer=ConversationPage, refuses=(403, 422))
    def list(self, given: Given) -> Response:
        """The conversations that the key may see and that match every filter, the latest first.

        Each is with a person: a key of one agent names the `user`.
        """
        with self.team_scope():
            filters = ListFilters(**given)
            rows = filtered_conversations(viewer=self.lister(given), filters=filters)
            return self.page(rows, ConversationSerializer)

    @operation(answer=ConversationSerializer, refuses=(404,))
    def retrieve(self, given: Given, pk: UUID) -> Response:
        """One conversation."""
        with self.team_scope():
            conversation = conversation_for(viewer=self.viewer, conversation_id=pk)
            return Response(ConversationSerializer(conversation).data)

    @operation(
        body=NewMessagesSerializer, answer={201: MessageListSerializer}, refuses=(404, 409, 422)
    )
    @action(detail=True, methods=["post"])
    def messages(self, given: Given, pk: UUID) -> Response:
        """Append 1 to 500 messages verbatim; a known external_id is not stored again.

        With another text than the stored message has, it is refused (409).
        """
        rows = post_messages(
            viewer=self.viewer,
            conversation_id=pk,
            messages=[
                NewMessage(**{**each, "name": each.get("name") or ""}) for each in given["messages"]
            ],
            now=timezone.now(),
            tools=default_tools(),
        )
        return Response(
            MessageListSerializer({"messages": rows}).data, status=status.HTTP_201_CREATED
        )

    @operation(query=PageQuerySerializer, answer=MessagePage, refuses=(404, 422))
    @messages.mapping.get
    def list_messages(self, given: Given, pk: UUID) -> Response:
        """The messages in their order, a page at a time."""
        with self.team_scope():
            conversation = conversation_for(viewer=self.viewer, conversation_id=pk)
            rows = messages_of(conversation)
            return self.page(rows, MessageSerializer, PositionPagination)

    @operation(
        body=ExtractSerializer,
        answer={200: ExtractionSerializer, 202: QueuedJobSerializer},
        refuses=WITH_CONFLICT,
    )
    @action(detail=True, methods=["post"])
    def extract(self, given: Given, pk: UUID) -> Response:
        """Extract memories from messages that are not extracted yet.

        With `wait`, returns everything not reported before; if that takes longer than
        EXTRACT_WAIT_SECONDS it continues in the background: 202 with its job.
        """
        viewer = self.viewer
        if not given["wait"]:
            return _follow(start_extraction(viewer=viewer, conversation_id=pk))
        try:
            counts = extract_now(viewer=viewer, conversation_id=pk, tools=default_tools())
        except StillExtractingError as still:
            return _follow(still.job)
        return Response(ExtractionSerializer(counts).data)

    @operation(
        body=CompactSerializer,
        answer={
            200: CompactedSerializer,
            202: (
                QueuedJobSerializer,
                "Nothing is compacted yet, as extraction takes too long to wait for."
                " Send the same request again when the job is done.",
            ),
        },
        refuses=WITH_CONFLICT,
    )
    @action(detail=True, methods=["post"])
    def compact(self, given: Given, pk: UUID) -> Response:
        """Extract and summarise the messages that leave the context; all messages stay stored.

        If extraction takes longer than COMPACT_WAIT_SECONDS it continues in the background: 202
        with its job. The same request, sent again when that is done, compacts.
        """
        try:
            compacted = compact_conversation(
                viewer=self.viewer,
                conversation_id=pk,
                keep_last=given.get("keep_last"),
                max_tokens=given.get("max_tokens"),
                tools=default_tools(),
            )
        except StillExtractingError as still:
            return _follow(still.job)
        return Response(CompactedSerializer(compacted).data)

    @operation(body=StrictSerializer, answer=ConversationSerializer, refuses=(404, 422))
    @action(detail=True, methods=["post"])
    def close(self, given: Given, pk: UUID) -> Response:
        """Close the conversation, and extract its remaining messages in the background."""
        conversation = close_conversation(
            viewer=self.viewer, conversation_id=pk, now=timezone.now()
        )
        return Response(ConversationSerializer(conversation).data)


class JobViewSet(ApiViewSet):
    """Background work."""

    lookup_value_converter = "uuid"

    @operation(answer=JobSerializer, refuses=(404,))
    def retrieve(self, given: Given, pk: UUID) -> Response:
        """A job and, once it is done, its result."""
        with self.team_scope():
            job = job_for(viewer=self.viewer, job_id=pk)
            return Response(JobSerializer(job).data)


def _follow(job: Job) -> Response:
    """Returns the address of the job's progress."""
    return Response(
        QueuedJobSerializer({"job": job.pk}).data,
        status=status.HTTP_202_ACCEPTED,
        headers={"Location": reverse("job-detail", args=[job.pk])},
    )
