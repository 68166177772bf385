"""People are members of the team or guests, and keys may be bound to projects."""

from pathlib import Path

import django.contrib.postgres.fields
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"
ROLES = [("member", "member"), ("guest", "guest")]


class Migration(migrations.Migration):
    dependencies = [("teams", "0014_webhooks")]
    operations = [
        migrations.AddField(
            "team",
            "person_role",
            models.CharField(
                choices=ROLES,
                db_default="guest",
                default="guest",
                help_text="A guest is a customer. What a member says about the work is told to members.",
                max_length=10,
                verbose_name="role of new people",
            ),
        ),
        migrations.AddField(
            "enduser",
            "role",
            models.CharField(
                blank=True,
                choices=ROLES,
                db_default="",
                default="",
                help_text="A member of the team hears what other members said about the work; a guest does not. Empty: as the team says of new people.",
                max_length=10,
            ),
        ),
        migrations.AddField(
            "apikey",
            "project_ids",
            django.contrib.postgres.fields.ArrayField(
                base_field=models.UUIDField(),
                blank=True,
                db_default=models.Value([]),
                default=list,
                help_text="The only projects that exist for it; empty for all.",
                size=None,
            ),
        ),
        migrations.RunSQL(
            (SQL / "key_projects.sql").read_text(), "DROP FUNCTION palimpsest_bound_key(bytea)"
        ),
        migrations.RunSQL(
            (SQL / "team_document_with_people.sql").read_text(), migrations.RunSQL.noop
        ),
    ]
