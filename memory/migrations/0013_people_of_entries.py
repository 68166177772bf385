from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from memory.domain.text import name_words
from memory.domain.whose import people_of

BATCH = 1_000
# Entries that do not say whom they are about, and the names of the person whose memory each is.
# What was extracted is that person's own word, and has its pass.
UNKNOWN = """
SELECT e.memory_id, m.content, m.extraction_pass IS NOT NULL, u.display_name, u.external_id
FROM memory_searchentry e
JOIN memory_memory m ON m.team_id = e.team_id AND m.id = e.memory_id
JOIN teams_enduser u ON u.team_id = m.team_id AND u.id = m.end_user_id
WHERE e.people = '{}' AND e.memory_id > %s
ORDER BY e.memory_id LIMIT %s
"""
FILL = """
UPDATE memory_searchentry e SET people = string_to_array(given.people, ' ')
FROM unnest(%s::uuid[], %s::text[]) AS given (memory_id, people)
WHERE e.memory_id = given.memory_id
"""


def fill(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Say of each memory of a person whom it is about, as a new one does."""
    del apps
    last = "00000000-0000-0000-0000-000000000000"
    with schema_editor.connection.cursor() as cursor:
        while True:
            cursor.execute(UNKNOWN, [last, BATCH])
            rows = cursor.fetchall()
            if not rows:
                return
            last = rows[-1][0]
            known = {}
            for memory_id, content, is_extracted, *names in rows:
                user = [name for name in names if name]
                people = user[:1] if is_extracted else people_of(content, user=user)
                known[memory_id] = " ".join(name_words(people))
            known = {memory_id: people for memory_id, people in known.items() if people}
            cursor.execute(FILL, [list(known), list(known.values())])


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0012_memories_by_time"),
        ("teams", "0001_initial"),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
