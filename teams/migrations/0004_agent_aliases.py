"""Agents keep answering to old names."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

import teams.ids
from teams.tenancy_sql import tenant_references, tenant_table

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("teams", "0003_sensitive_fields")]

    operations = [
        migrations.CreateModel(
            name="AgentAlias",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=teams.ids.new_id,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("slug", models.CharField(max_length=100)),
                ("actor", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "agent",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="aliases",
                        to="teams.agent",
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
                "ordering": ["slug"],
                "indexes": [
                    models.Index(fields=["team", "agent"], name="agent_alias_by_agent")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("team", "slug"), name="agent_alias_once")
                ],
            },
        ),
        tenant_table("teams_agentalias", rights="SELECT, INSERT, DELETE"),
        tenant_references("teams_agentalias", [("agent_id", "teams_agent")]),
        migrations.RunSQL((SQL / "agent_aliases.sql").read_text(), migrations.RunSQL.noop),
    ]
