"""The API of store items: values under namespaces and keys, found by searches of memories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.response import Response

from memory.api.base import ApiViewSet, Given, operation
from memory.api.fields import (
    NameField,
    ObjectField,
    QuestionField,
    StrictBooleanField,
    StrictFloatField,
    StrictIntegerField,
    TextField,
)
from memory.api.schemas import PER_REQUEST, ApiSerializer, StrictSerializer, check_total_length
from memory.satellites.langgraph.checkpoints_api import JsonField
from memory.satellites.langgraph.models import MAX_NAMESPACE_CHARS, StoreItem
from memory.satellites.langgraph.store_items import (
    AGENTS,
    COMPARISONS,
    USERS,
    Listing,
    NewItem,
    Search,
    in_namespace,
    items_for,
    named_in,
    namespaces_of,
    path_of,
    read_items,
    write_items,
)
from memory.understanding.tools import default_tools

MAX_LABELS = 20
MAX_SEARCHES = 20
MAX_FOUND = 1_000
MAX_TTL_MINUTES = 10 * 366 * 24 * 60


class NamespaceField(serializers.ListField):
    """Labels without dots; after `users`, `agents` or `projects` the second says whose it is."""

    child = TextField(max_length=200)

    def __init__(self, **kwargs: Any) -> None:  # Any: DRF's own options
        super().__init__(max_length=MAX_LABELS, **kwargs)

    def to_internal_value(self, data: Any) -> Any:  # Any: whatever the body holds; labels
        labels = tuple(super().to_internal_value(data))
        if len(path_of(labels)) > MAX_NAMESPACE_CHARS or any(
            "." in each or not each.isprintable() for each in labels
        ):
            raise serializers.ValidationError(
                "Labels have no dots and no control characters, and together at most"
                f" {MAX_NAMESPACE_CHARS} characters."
            )
        if (named := named_in(labels)) is not None:
            kind, name = named
            NameField(max_length=200 if kind == USERS else 100).run_validation(name)
            if name != name.strip():
                raise serializers.ValidationError("A name has no spaces around it.")
        return labels


class PlaceSerializer(StrictSerializer):
    """The namespace and key of an item."""

    namespace = NamespaceField(allow_empty=False, min_length=1)
    key = TextField(max_length=200)


class NewStoreItemSerializer(PlaceSerializer):
    """A value to keep, or null to delete what is kept."""

    value = JsonField(allow_null=True)
    text = TextField(
        required=False,
        allow_blank=True,
        allow_null=True,
        help_text="Its words, which become a memory; without them no question finds it.",
    )
    user = NameField(
        required=False,
        allow_null=True,
        max_length=200,
        help_text="Whom it is about, where the namespace does not say so.",
    )
    ttl_minutes = StrictFloatField(
        required=False, allow_null=True, min_value=0, max_value=MAX_TTL_MINUTES
    )


class NewStoreItemsSerializer(StrictSerializer):
    """Items to keep or to delete."""

    items = serializers.ListField(child=NewStoreItemSerializer(), max_length=PER_REQUEST)

    def validate_items(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        check_total_length(each.get("text") or "" for each in value)
        return value


class ItemsWrittenSerializer(ApiSerializer):
    """The numbers of items kept and deleted."""

    kept = serializers.IntegerField()
    deleted = serializers.IntegerField()


class GetStoreItemSerializer(PlaceSerializer):
    """One item."""

    refresh_ttl = StrictBooleanField(required=False, default=True)


class SearchItemsSerializer(StrictSerializer):
    """Items under a namespace."""

    namespace = NamespaceField(source="prefix")
    query = QuestionField(required=False, allow_null=True)
    filter = JsonField(
        required=False,
        allow_null=True,
        source="conditions",
        help_text="Members of the value, with the value that they must equal or with comparisons:"
        f" {', '.join(COMPARISONS)}.",
    )
    limit = StrictIntegerField(required=False, default=10, min_value=1, max_value=MAX_FOUND)
    offset = StrictIntegerField(required=False, default=0, min_value=0, max_value=100_000)
    refresh_ttl = StrictBooleanField(required=False, default=True, source="refreshes")

    def validate_filter(self, given: Mapping[str, Any] | None) -> Any:
        # Any: JSON; triples of name, comparison and value
        found = []
        for name, value in (given or {}).items():
            is_comparison = isinstance(value, dict) and any(each[:1] == "$" for each in value)
            for sign, each in (value if is_comparison else {"$eq": value}).items():
                if sign not in COMPARISONS:
                    raise serializers.ValidationError(
                        f"{name}: there is no «{sign}», but {', '.join(COMPARISONS)}."
                    )
                found.append((name, sign, each))
        if len(found) > 50:
            raise serializers.ValidationError("At most 50 comparisons.")
        return found


class ListNamespacesSerializer(StrictSerializer):
    """Namespaces in which items stand; the label "*" is any."""

    prefix = NamespaceField(required=False, default=())
    suffix = NamespaceField(required=False, default=())
    max_depth = StrictIntegerField(
        required=False, allow_null=True, min_value=1, max_value=MAX_LABELS
    )
    limit = StrictIntegerField(required=False, default=100, min_value=1, max_value=MAX_FOUND)
    offset = StrictIntegerField(required=False, default=0, min_value=0, max_value=100_000)


class ReadItemsSerializer(StrictSerializer):
    """Several reads in one request."""

    get_ = serializers.ListField(
        child=GetStoreItemSerializer(), required=False, max_length=PER_REQUEST
    )
    search = serializers.ListField(
        child=SearchItemsSerializer(), required=False, max_length=MAX_SEARCHES
    )
    namespaces = serializers.ListField(
        child=ListNamespacesSerializer(), required=False, max_length=MAX_SEARCHES
    )


class StoreItemSerializer(ApiSerializer):
    """An item."""

    namespace = serializers.ListField(child=serializers.CharField())
    key = serializers.CharField()
    value = ObjectField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    memory = serializers.UUIDField(allow_null=True, help_text="The memory of its words.")
    score = serializers.FloatField(allow_null=True)


class ReadOfItemsSerializer(ApiSerializer):
    """The answers to searches and listings in their order, and the items by key that there are."""

    get_ = serializers.ListField(child=StoreItemSerializer())
    search = serializers.ListField(child=serializers.ListField(child=StoreItemSerializer()))
    namespaces = serializers.ListField(
        child=serializers.ListField(child=serializers.ListField(child=serializers.CharField()))
    )


class ItemViewSet(ApiViewSet):
    """The endpoints that write items."""

    memory_actions = ("write",)

    @operation(
        "items_write",
        body=NewStoreItemsSerializer,
        answer=ItemsWrittenSerializer,
        refuses=(403, 409, 413, 422),
    )
    def write(self, given: Given) -> Response:
        """Keep and delete items, all or none; their words become memories."""
        items = given["items"]
        for each in items:
            named = named_in(each["namespace"])
            if named is not None and named[0] == AGENTS:
                self.check_agent(named[1])
        kept, deleted = write_items(
            viewer=self.viewer,
            items=[NewItem(**each) for each in items],
            tools=default_tools(),
            now=timezone.now(),
        )
        return Response({"kept": kept, "deleted": deleted})


class ItemReadViewSet(ApiViewSet):
    """The endpoints that read items; a read restarts the time of items that last after each use."""

    only_reads = True
    memory_actions = ("read",)

    @operation(
        "items_read", body=ReadItemsSerializer, answer=ReadOfItemsSerializer, refuses=(403, 422)
    )
    def read(self, given: Given) -> Response:
        """Items by their keys, items that match, and namespaces; what is not seen is missing.

        The values may have 8 MiB together: ask for fewer items in one request where it is refused.
        """
        viewer, now, tools = self.viewer, timezone.now(), default_tools()
        gets = [
            ((path_of(each["namespace"]), each["key"]), each["refresh_ttl"])
            for each in given.get("get", ())
        ]
        searches = [Search(**each) for each in given.get("search", ())]
        got, found = read_items(viewer=viewer, gets=gets, searches=searches, tools=tools, now=now)
        with self.team_scope():
            listings = [
                namespaces_of(
                    items_for(viewer=in_namespace(viewer, each.get("prefix") or ()), now=now),
                    Listing(**each),
                )
                for each in given.get("namespaces", ())
            ]
        return Response(
            {
                "get": [_shown(each) for each in got],
                "search": [[_shown(one.item, one.score) for one in each] for each in found],
                "namespaces": listings,
            }
        )


def _shown(item: StoreItem, score: float | None = None) -> dict[str, object]:
    return {
        "namespace": item.path.split("."),
        "key": item.key,
        "value": item.value,
        "created_at": item.created_at,
        "updated_at": item.updated_at,
        "memory": item.memory_id,
        "score": score,
    }
