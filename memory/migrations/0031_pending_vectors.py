"""A memory may be stored before it is embedded; the teams where some wait are known."""

from pathlib import Path

import pgvector.django
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql" / "pending_vectors.sql"


class Migration(migrations.Migration):
    dependencies = [("memory", "0030_batches_kept")]
    operations = [
        migrations.AlterField(
            model_name="searchentry",
            name="embedding",
            field=pgvector.django.HalfVectorField(null=True),
        ),
        migrations.AlterField(
            model_name="searchentry",
            name="embedding_model",
            field=models.CharField(blank=True, db_default="", default="", max_length=200),
        ),
        migrations.AddIndex(
            model_name="searchentry",
            index=models.Index(
                condition=models.Q(("embedding_model", "")),
                fields=["team", "memory"],
                name="memory_search_pending",
            ),
        ),
        migrations.RunSQL(
            SQL.read_text(), "DROP FUNCTION palimpsest_pending_vectors()"
        ),
    ]
