"""The addresses of the satellite, below /v1/."""

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from memory.satellites.consent.api import ConsentRequestViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("consent-requests", ConsentRequestViewSet, basename="consent-request")

urlpatterns = [
    path("", include(router.urls)),
]
