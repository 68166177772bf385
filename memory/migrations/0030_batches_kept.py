"""Items leave a batch of an import in place, and an erasure counts what it takes out."""

from pathlib import Path

from django.db import migrations

from teams.tenancy_sql import APP_ROLE

SQL = Path(__file__).parent.parent / "sql" / "import_batches_kept.sql"


class Migration(migrations.Migration):
    dependencies = [("memory", "0029_graphs_of_erased_people")]
    operations = [
        migrations.RunSQL(
            SQL.read_text().replace("{app_role}", APP_ROLE), migrations.RunSQL.noop
        ),
    ]
