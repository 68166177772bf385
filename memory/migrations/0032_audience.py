"""Who may hear a memory or a message is a column of it."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql" / "audience.sql"
AUDIENCES = [("agent", "agent"), ("person", "person"), ("team", "team")]


def audience(*, is_decided: bool) -> models.CharField:
    if is_decided:
        return models.CharField(
            choices=AUDIENCES,
            db_default="agent",
            default="agent",
            editable=False,
            max_length=10,
        )
    return models.CharField(choices=AUDIENCES, editable=False, max_length=10, null=True)


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0031_pending_vectors"),
        ("audit", "0007_log_of_new_memories"),
        ("teams", "0015_roles_of_people"),
    ]
    operations = [
        migrations.AddField("memory", "audience", audience(is_decided=True)),
        migrations.AddField("searchentry", "audience", audience(is_decided=True)),
        migrations.AddField("messageentry", "audience", audience(is_decided=False)),
        migrations.RunSQL(SQL.read_text(), migrations.RunSQL.noop),
        migrations.RemoveField("messageentry", "is_shared"),
        migrations.AddIndex(
            "messageentry",
            models.Index(
                condition=models.Q(("audience", "team")),
                fields=["team", "message"],
                name="memory_message_of_team",
            ),
        ),
    ]
