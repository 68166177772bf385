"""Deliveries run under one lock: an endpoint has a time until which it rests, and no claim."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql" / "due_webhooks.sql"


class Migration(migrations.Migration):
    dependencies = [("teams", "0015_roles_of_people")]
    operations = [
        migrations.RemoveField(model_name="webhookendpoint", name="claim"),
        migrations.RenameField("webhookendpoint", "lease_until", "rests_until"),
        migrations.RunSQL(SQL.read_text(), "DROP FUNCTION palimpsest_due_webhooks(integer)"),
    ]
