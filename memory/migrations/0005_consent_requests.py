"""Changes of a person's profile that wait for a yes, and an erasure that removes them."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import audit
import teams.ids
from teams.tenancy_sql import tenant_references, tenant_table

SQL = Path(audit.__file__).parent / "sql"
CHECK_PEOPLE = """
CREATE TRIGGER check_people AFTER INSERT ON memory_consentrequest REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_check_people_of_rows();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0004_shared_messages"),
        ("teams", "0003_sensitive_fields"),
        ("audit", "0003_names_of_people"),
    ]

    operations = [
        migrations.CreateModel(
            name="ConsentRequest",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=teams.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("profile_field", "Profile field"),
                            ("team_preference", "Team preference"),
                        ],
                        default="profile_field",
                        max_length=20,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("approved", "Approved"),
                            ("rejected", "Rejected"),
                            ("expired", "Expired"),
                        ],
                        default="waiting",
                        max_length=20,
                    ),
                ),
                ("field", models.CharField(blank=True, default="", max_length=200)),
                ("content", models.TextField()),
                ("value_key", models.BinaryField(max_length=32)),
                ("category", models.CharField(blank=True, default="", max_length=100)),
                ("draft", models.JSONField(blank=True, default=dict)),
                ("needs_person", models.BooleanField(default=True)),
                (
                    "source_message_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), blank=True, default=list, size=None
                    ),
                ),
                ("signals", models.JSONField(blank=True, default=list)),
                ("proposed_by", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField()),
                ("decided_by", models.CharField(blank=True, default="", max_length=200)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                ("note", models.TextField(blank=True, default="")),
                (
                    "agent",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="teams.agent",
                    ),
                ),
                (
                    "end_user",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="teams.enduser",
                    ),
                ),
                (
                    "heard_by",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="teams.agent",
                    ),
                ),
                (
                    "memory",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.memory",
                    ),
                ),
                (
                    "present",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.memory",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="teams.team",
                    ),
                ),
            ],
            options={
                "verbose_name": "consent request",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "waiting")),
                        fields=["team", "created_at"],
                        name="consent_waiting",
                    ),
                    models.Index(fields=["team", "created_at"], name="consent_by_age"),
                    models.Index(fields=["team", "end_user"], name="consent_by_person"),
                    models.Index(
                        condition=models.Q(("memory__isnull", False)),
                        fields=["team", "memory"],
                        name="consent_by_memory",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "waiting")),
                        fields=("team", "end_user", "kind", "field", "value_key"),
                        name="consent_waiting_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kind__in", ["profile_field", "team_preference"]),
                            ("state__in", ["waiting", "approved", "rejected", "expired"]),
                        ),
                        name="consent_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided_at__isnull", True), ("state", "waiting")),
                            models.Q(
                                models.Q(("state", "waiting"), _negated=True),
                                ("decided_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="consent_decided_whole",
                    ),
                ],
            },
        ),
        tenant_table("memory_consentrequest", rights="SELECT, INSERT, UPDATE"),
        tenant_references(
            "memory_consentrequest",
            [
                ("end_user_id", "teams_enduser"),
                ("agent_id", "teams_agent"),
                ("heard_by_id", "teams_agent"),
                ("present_id", "memory_memory"),
                ("memory_id", "memory_memory"),
            ],
            at_commit=True,
        ),
        migrations.RunSQL(CHECK_PEOPLE, "DROP TRIGGER check_people ON memory_consentrequest;"),
        migrations.RunSQL((SQL / "erasure.sql").read_text(), migrations.RunSQL.noop),
        migrations.RunSQL((SQL / "forget_statistics.sql").read_text(), migrations.RunSQL.noop),
    ]
