from datetime import UTC, datetime

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0011_usage_index_and_statistics"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="memory", name="memory_by_time"),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                fields=["team", "-created_at"],
                condition=models.Q(created_at__gt=datetime(1, 1, 2, tzinfo=UTC)),
                name="memory_by_time",
            ),
        ),
    ]
