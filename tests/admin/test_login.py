"""Signing in to the web admin."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import StaffUserFactory


@pytest.mark.parametrize("then", ["", "admin:audit_memorylog_changelist"])
def test_who_signs_in_gets_to_the_admin(db: None, then: str) -> None:
    user = StaffUserFactory.create(is_superuser=True)
    user.set_password("a long word of hers")
    user.save()
    page = reverse(then or "admin:index")
    query = {"next": page} if then else {}

    answer = Client().post(
        reverse("admin:login"),
        {"username": user.username, "password": "a long word of hers"},
        query_params=query,
    )

    assert answer.status_code == 302
    assert answer["Location"] == page
