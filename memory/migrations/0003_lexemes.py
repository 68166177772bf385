"""Indexes scripts that put no spaces between words by pairs of letters."""

from django.db import migrations

from teams.tenancy_sql import sql_files

_PAIRED = "[\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7a3]"

# Messages are indexed anew by a worker; memories here, as their words are all that changes.
_REINDEX = f"""
UPDATE memory_messageentry AS entry SET is_waiting = TRUE
FROM teams_message AS message
WHERE message.team_id = entry.team_id AND message.id = entry.message_id
    AND NOT entry.is_forgotten AND message.content ~ '{_PAIRED}';
UPDATE memory_searchentry AS entry SET lexemes = palimpsest_lexemes(memory.content)
FROM memory_memory AS memory
WHERE memory.team_id = entry.team_id AND memory.id = entry.memory_id
    AND memory.content ~ '{_PAIRED}';
"""


class Migration(migrations.Migration):
    dependencies = [("memory", "0002_triggers")]
    operations = [
        *sql_files(__file__, "lexemes", "memory_matches", "message_matches"),
        migrations.RunSQL(_REINDEX, migrations.RunSQL.noop),
    ]
