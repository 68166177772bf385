"""Threads and items are not written for an erased person; items know how large they are."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql" / "people_of_graphs.sql"


class Migration(migrations.Migration):
    dependencies = [("memory", "0028_webhook_events")]
    operations = [
        migrations.RunSQL(SQL.read_text(), migrations.RunSQL.noop),
        migrations.AddField(
            model_name="storeitem",
            name="size",
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.RunSQL(
            "UPDATE memory_storeitem SET size = octet_length(value::text)",
            migrations.RunSQL.noop,
        ),
    ]
