from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0010_renew_statistics"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="memoryusage", name="memory_usage_by_access"),
        migrations.AddIndex(
            model_name="memoryusage",
            index=models.Index(
                fields=["team", "-last_accessed_at"],
                name="memory_usage_by_access",
                condition=models.Q(last_accessed_at__isnull=False),
            ),
        ),
        # The function again, with the tables that it knows now.
        migrations.RunSQL((SQL / "renew_statistics.sql").read_text(), migrations.RunSQL.noop),
    ]
