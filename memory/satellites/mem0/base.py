"""What all views of mem0's protocol share: its key header, and errors in its shape."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse
from rest_framework import status
from rest_framework.exceptions import APIException

from memory.api.base import PROBLEM_MEDIA, ApiViewSet
from teams.authentication import TokenAuthentication


class NotOfferedError(APIException):
    """501: a part of mem0's protocol that this server does not have, with the reason."""

    status_code = status.HTTP_501_NOT_IMPLEMENTED


class Mem0ViewSet(ApiViewSet):
    """A view that takes `Authorization: Token <key>` and refuses as mem0's platform does.

    Refusals are JSON with a `detail`; a wrong field is 400, where /v1/ answers 422. The views are
    no part of the OpenAPI document: mem0 describes them.
    """

    authentication_classes = (TokenAuthentication,)
    schema = None

    def handle_exception(self, exc: Exception) -> Any:  # Any: a response of either framework
        """The refusal as mem0's client reads it."""
        response = super().handle_exception(exc)
        if isinstance(response, HttpResponse) and response["Content-Type"] == PROBLEM_MEDIA:
            if response.status_code == status.HTTP_422_UNPROCESSABLE_ENTITY:
                response.status_code = status.HTTP_400_BAD_REQUEST
            told = json.loads(response.content)
            kept = ("detail", "errors", "request_id", "memories")
            shown = {name: told[name] for name in kept if name in told}
            response.content = json.dumps({"error": told["title"], **shown}).encode()
            response["Content-Type"] = "application/json"
        if response.status_code == status.HTTP_501_NOT_IMPLEMENTED:
            # The caller can act on it; Django would log it as a server error.
            response._has_been_logged = True
        return response
