"""The addresses of the memory API, below /v1/."""

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from memory.api.views.agents import AgentViewSet
from memory.api.views.audit import AuditViewSet, HistoryViewSet
from memory.api.views.chat import ChatViewSet, ModelViewSet
from memory.api.views.checkpoints import GraphCheckpointViewSet
from memory.api.views.consent import ConsentRequestViewSet
from memory.api.views.consolidation import ConsolidationViewSet
from memory.api.views.context import ContextViewSet
from memory.api.views.contradictions import ContradictionViewSet
from memory.api.views.conversations import ConversationViewSet, JobViewSet
from memory.api.views.events import EventViewSet
from memory.api.views.items import ItemReadViewSet, ItemViewSet
from memory.api.views.memories import MemoryViewSet
from memory.api.views.package import PackageViewSet
from memory.api.views.patterns import PatternViewSet
from memory.api.views.prediction import PredictionViewSet
from memory.api.views.projects import ProjectViewSet, TeamMemoryViewSet
from memory.api.views.query import MemoryQueryViewSet
from memory.api.views.retrieval import PromptViewSet, RetrievalViewSet
from memory.api.views.routing import BudgetViewSet, RouteViewSet
from memory.api.views.tasks import TaskViewSet
from memory.api.views.threads import CheckpointViewSet, ThreadChangesViewSet
from memory.api.views.transfer import ExportViewSet, ImportViewSet
from memory.api.views.usage import UsageViewSet
from memory.api.views.users import UserViewSet
from memory.api.views.webhooks import WebhookViewSet
from memory.api.views.workflows import RecordingViewSet, WorkflowViewSet
from memory.api.views.working_context import WorkingContextViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("conversations", ConversationViewSet, basename="conversation")
router.register("jobs", JobViewSet, basename="job")
router.register("memories", MemoryViewSet, basename="memory")
router.register("audit", AuditViewSet, basename="audit")
router.register("events", EventViewSet, basename="event")
router.register("contradictions", ContradictionViewSet, basename="contradiction")
router.register("consent-requests", ConsentRequestViewSet, basename="consent-request")
router.register("workflows/recordings", RecordingViewSet, basename="workflow-recording")

urlpatterns = [
    # What is asked with every message of every agent: each address is tried in this order.
    path("retrieve", RetrievalViewSet.as_view({"post": "retrieve"}), name="retrieve"),
    path("prompt", PromptViewSet.as_view({"post": "build"}), name="prompt"),
    path("memory/query", MemoryQueryViewSet.as_view({"post": "query"}), name="memory-query"),
    path("memory/context", ContextViewSet.as_view({"get": "context"}), name="memory-context"),
    path("memory/select", ContextViewSet.as_view({"post": "select"}), name="memory-select"),
    path("memory/conflicts", ContextViewSet.as_view({"get": "conflicts"}), name="memory-conflicts"),
    path("context/package", PackageViewSet.as_view({"post": "package"}), name="context-package"),
    path("context/predict", PredictionViewSet.as_view({"post": "predict"}), name="context-predict"),
    path(
        "context/assemble",
        WorkingContextViewSet.as_view({"post": "assemble"}),
        name="context-assemble",
    ),
    path("context/expand", WorkingContextViewSet.as_view({"get": "expand"}), name="context-expand"),
    path("usage", UsageViewSet.as_view({"post": "report"}), name="usage"),
    path("chat/completions", ChatViewSet.as_view({"post": "create"}), name="chat-completions"),
    path("", include(router.urls)),
    path(
        "memories/<uuid:pk>/history",
        HistoryViewSet.as_view({"get": "history"}),
        name="memory-history",
    ),
    path("budget", BudgetViewSet.as_view({"get": "left"}), name="budget"),
    path("route", RouteViewSet.as_view({"post": "route"}), name="route"),
    path("models", ModelViewSet.as_view({"get": "entries"}), name="models"),
    path("agents", AgentViewSet.as_view({"get": "entries"}), name="agents"),
    # The names of agents, threads and people are any names, also with slashes.
    path("models/<path:name>", ModelViewSet.as_view({"get": "load"}), name="model"),
    path(
        "agents/<path:slug>/versions",
        AgentViewSet.as_view({"get": "versions"}),
        name="agent-versions",
    ),
    path("agents/<path:slug>", AgentViewSet.as_view({"get": "load", "put": "save"}), name="agent"),
    path(
        "threads/<path:thread_id>/checkpoint",
        CheckpointViewSet.as_view({"put": "save", "get": "load"}),
        name="thread-checkpoint",
    ),
    path(
        "threads/<path:thread_id>/changes",
        ThreadChangesViewSet.as_view({"get": "changes"}),
        name="thread-changes",
    ),
    path(
        "threads/<path:thread_id>/checkpoints",
        GraphCheckpointViewSet.as_view({"delete": "remove"}),
        name="thread-checkpoints",
    ),
    path(
        "threads/<path:thread_id>/copy",
        GraphCheckpointViewSet.as_view({"post": "copy"}),
        name="thread-copy",
    ),
    path(
        "threads/<path:thread_id>/checkpoints/<str:checkpoint_id>",
        GraphCheckpointViewSet.as_view({"put": "save"}),
        name="graph-checkpoint",
    ),
    path(
        "threads/<path:thread_id>/checkpoints/<str:checkpoint_id>/writes",
        GraphCheckpointViewSet.as_view({"post": "add_writes"}),
        name="graph-writes",
    ),
    path("checkpoints", GraphCheckpointViewSet.as_view({"get": "entries"}), name="checkpoints"),
    path(
        "checkpoints/prune",
        GraphCheckpointViewSet.as_view({"post": "prune"}),
        name="checkpoints-prune",
    ),
    path(
        "checkpoints/delete-runs",
        GraphCheckpointViewSet.as_view({"post": "remove_runs"}),
        name="checkpoints-delete-runs",
    ),
    path("items", ItemViewSet.as_view({"post": "write"}), name="items"),
    path("items/query", ItemReadViewSet.as_view({"post": "read"}), name="items-query"),
    path("patterns/learn", PatternViewSet.as_view({"post": "learn"}), name="patterns-learn"),
    path("workflows", WorkflowViewSet.as_view({"post": "create"}), name="workflows"),
    path("tasks", TaskViewSet.as_view({"post": "create"}), name="tasks"),
    path("tasks/<str:task_id>", TaskViewSet.as_view({"get": "load"}), name="task"),
    path(
        "tasks/<str:task_id>/items",
        TaskViewSet.as_view({"post": "add", "get": "items", "delete": "clear"}),
        name="task-items",
    ),
    path(
        "tasks/<str:task_id>/items/<uuid:item_id>/promote",
        TaskViewSet.as_view({"post": "promote"}),
        name="task-item-promote",
    ),
    path(
        "tasks/<str:task_id>/complete",
        TaskViewSet.as_view({"post": "complete"}),
        name="task-complete",
    ),
    path("tasks/<str:task_id>/fail", TaskViewSet.as_view({"post": "fail"}), name="task-fail"),
    path("consolidate", ConsolidationViewSet.as_view({"post": "start"}), name="consolidate"),
    path(
        "consolidate/runs",
        ConsolidationViewSet.as_view({"get": "entries"}),
        name="consolidation-runs",
    ),
    path(
        "consolidate/runs/<uuid:pk>",
        ConsolidationViewSet.as_view({"get": "load"}),
        name="consolidation-run",
    ),
    path(
        "consolidate/runs/<uuid:pk>/changes",
        ConsolidationViewSet.as_view({"get": "changes"}),
        name="consolidation-run-changes",
    ),
    path(
        "consolidate/runs/<uuid:pk>/undo",
        ConsolidationViewSet.as_view({"post": "undo"}),
        name="consolidation-run-undo",
    ),
    path("projects", ProjectViewSet.as_view({"get": "entries"}), name="projects"),
    path(
        "projects/<path:slug>/clear",
        ProjectViewSet.as_view({"post": "clear"}),
        name="project-clear",
    ),
    path(
        "projects/<path:slug>",
        ProjectViewSet.as_view({"get": "load", "patch": "change"}),
        name="project",
    ),
    path("team/clear", TeamMemoryViewSet.as_view({"post": "clear"}), name="team-clear"),
    path(
        "export",
        ExportViewSet.as_view({"get": "export"}),
        name="export",
    ),
    path(
        "imports",
        ImportViewSet.as_view({"post": "start", "get": "entries"}),
        name="imports",
    ),
    path(
        "imports/<uuid:pk>",
        ImportViewSet.as_view({"get": "load", "delete": "cancel"}),
        name="import",
    ),
    path("users", UserViewSet.as_view({"get": "entries"}), name="users"),
    path(
        "users/<path:external_id>",
        UserViewSet.as_view({"get": "load", "patch": "change", "delete": "erase"}),
        name="user",
    ),
    path(
        "webhooks",
        WebhookViewSet.as_view({"get": "entries", "post": "create"}),
        name="webhooks",
    ),
    path(
        "webhooks/<uuid:pk>",
        WebhookViewSet.as_view({"get": "load", "patch": "change", "delete": "remove"}),
        name="webhook",
    ),
    path(
        "webhooks/<uuid:pk>/rotate-secret",
        WebhookViewSet.as_view({"post": "rotate"}),
        name="webhook-rotate-secret",
    ),
    path("webhooks/<uuid:pk>/test", WebhookViewSet.as_view({"post": "test"}), name="webhook-test"),
    path(
        "webhooks/<uuid:pk>/deliveries",
        WebhookViewSet.as_view({"get": "deliveries"}),
        name="webhook-deliveries",
    ),
    path(
        "webhooks/<uuid:pk>/deliveries/<uuid:delivery_id>/replay",
        WebhookViewSet.as_view({"post": "replay_one"}),
        name="webhook-delivery-replay",
    ),
    path(
        "webhooks/<uuid:pk>/replay",
        WebhookViewSet.as_view({"post": "replay"}),
        name="webhook-replay",
    ),
]
