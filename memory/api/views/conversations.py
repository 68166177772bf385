"""The raw log: conversations, their messages and their extraction."""

from __future__ import annotations

from uuid import UUID

from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ApiViewSet, answers, refusals
from memory.api.pagination import PositionPagination
from memory.api.serializers.base import PageQuerySerializer, page_schema
from memory.api.serializers.conversations import (
    CompactedSerializer,
    CompactSerializer,
    ConversationFilterSerializer,
    ConversationSerializer,
    ExtractionSerializer,
    ExtractSerializer,
    JobSerializer,
    MessageListSerializer,
    MessageSerializer,
    NewConversationSerializer,
    NewMessagesSerializer,
    NothingSerializer,
    QueuedJobSerializer,
)
from memory.models import Job
from memory.selectors.conversations import conversation_for, job_for, messages_of
from memory.selectors.people import ListFilters, filtered_conversations
from memory.services.compaction.compaction import compact_conversation
from memory.services.extraction.jobs import start_extraction
from memory.services.extraction.waiting import StillExtractingError, extract_now
from memory.services.messages.posting import (
    close_conversation,
    open_conversation,
    post_messages,
)
from memory.understanding.tools import default_tools
from teams.services.conversations import NewMessage

ConversationPage = page_schema("ConversationPage", ConversationSerializer)
MessagePage = page_schema("MessagePage", MessageSerializer)


class ConversationViewSet(ApiViewSet):
    """Conversations of an agent with an end user."""

    lookup_value_converter = "uuid"
    serializer_class = ConversationSerializer
    memory_actions = ("extract", "compact")

    @extend_schema(
        request=NewConversationSerializer,
        responses={
            201: ConversationSerializer,
            200: OpenApiResponse(
                ConversationSerializer, description="The existing conversation of this thread."
            ),
            **refusals(403, 422),
        },
    )
    def create(self, request: Request) -> Response:
        """Start a conversation; the same agent, user and thread_id return the existing one."""
        given = self.body(NewConversationSerializer)
        self.check_agent(given["agent"])
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

    @extend_schema(
        parameters=[ConversationFilterSerializer], responses=answers(ConversationPage, 403, 422)
    )
    def list(self, request: Request) -> Response:
        """The conversations that the key may see and that match every filter, the latest first.

        Each is with a person: a key of one agent names the `user`.
        """
        return self.listed(
            lambda given: filtered_conversations(
                viewer=self.lister(given), filters=ListFilters(**given)
            ),
            filters=ConversationFilterSerializer,
            shown=ConversationSerializer,
        )

    @extend_schema(responses=answers(ConversationSerializer, 404))
    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One conversation."""
        with self.team_scope():
            conversation = conversation_for(viewer=self.viewer, conversation_id=pk)
            return Response(ConversationSerializer(conversation).data)

    @extend_schema(
        request=NewMessagesSerializer,
        responses={201: MessageListSerializer, **refusals(404, 409, 422)},
    )
    @action(detail=True, methods=["post"])
    def messages(self, request: Request, pk: UUID) -> Response:
        """Append 1 to 500 messages verbatim; a known external_id is not stored again.

        With another text than the stored message has, it is refused (409).
        """
        given = self.body(NewMessagesSerializer)
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

    @extend_schema(parameters=[PageQuerySerializer], responses=answers(MessagePage, 404, 422))
    @messages.mapping.get
    def list_messages(self, request: Request, pk: UUID) -> Response:
        """The messages in their order, a page at a time."""
        self.params(PageQuerySerializer)
        with self.team_scope():
            conversation = conversation_for(viewer=self.viewer, conversation_id=pk)
            rows = messages_of(conversation)
            return Response(PositionPagination().page_of(rows, request, MessageSerializer))

    @extend_schema(
        request=ExtractSerializer,
        responses={
            200: ExtractionSerializer,
            202: QueuedJobSerializer,
            **refusals(403, 404, 409, 422),
        },
    )
    @action(detail=True, methods=["post"])
    def extract(self, request: Request, pk: UUID) -> Response:
        """Extract memories from messages that are not extracted yet.

        With `wait`, returns everything not reported before; if that takes longer than
        EXTRACT_WAIT_SECONDS it continues in the background: 202 with its job.
        """
        given = self.body(ExtractSerializer)
        viewer = self.viewer
        if not given["wait"]:
            return _follow(start_extraction(viewer=viewer, conversation_id=pk))
        try:
            counts = extract_now(viewer=viewer, conversation_id=pk, tools=default_tools())
        except StillExtractingError as still:
            return _follow(still.job)
        return Response(ExtractionSerializer(counts).data)

    @extend_schema(
        request=CompactSerializer,
        responses={
            200: CompactedSerializer,
            202: OpenApiResponse(
                QueuedJobSerializer,
                description="Nothing is compacted yet, as extraction takes too long to wait for."
                " Send the same request again when the job is done.",
            ),
            **refusals(403, 404, 409, 422),
        },
    )
    @action(detail=True, methods=["post"])
    def compact(self, request: Request, pk: UUID) -> Response:
        """Extract and summarise the messages that leave the context; all messages stay stored.

        If extraction takes longer than COMPACT_WAIT_SECONDS it continues in the background: 202
        with its job. The same request, sent again when that is done, compacts.
        """
        given = self.body(CompactSerializer)
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

    @extend_schema(request=None, responses=answers(ConversationSerializer, 404, 422))
    @action(detail=True, methods=["post"])
    def close(self, request: Request, pk: UUID) -> Response:
        """Close the conversation, and extract its remaining messages in the background."""
        self.body(NothingSerializer)
        conversation = close_conversation(
            viewer=self.viewer, conversation_id=pk, now=timezone.now()
        )
        return Response(ConversationSerializer(conversation).data)


class JobViewSet(ApiViewSet):
    """Background work."""

    lookup_value_converter = "uuid"
    serializer_class = JobSerializer

    @extend_schema(responses=answers(JobSerializer, 404))
    def retrieve(self, request: Request, pk: UUID) -> Response:
        """A job and, once it is done, its result."""
        with self.team_scope():
            job = job_for(viewer=self.viewer, job_id=pk)
            return Response(JobSerializer(job).data)


def _follow(job: Job) -> Response:
    """Where to ask how far the job is."""
    return Response(
        QueuedJobSerializer({"job": job.pk}).data,
        status=status.HTTP_202_ACCEPTED,
        headers={"Location": reverse("job-detail", args=[job.pk])},
    )
