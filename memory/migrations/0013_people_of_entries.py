from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from memory.domain.text import name_words
from memory.domain.whose import people_of

BATCH = 1_000
# Entries that do not say whom they are about, and the names of the person whose memory each is.
# What was extracted is that person's own word, and has its pass. A batch is found by the key alone,
# before anything is joined: each would read and sort all memories otherwise.
UNKNOWN = """
SELECT e.team_id, e.memory_id, m.content, m.extraction_pass IS NOT NULL,
    u.display_name, u.external_id
FROM (
    SELECT team_id, memory_id, end_user_id FROM memory_searchentry
    WHERE people = '{}' AND end_user_id IS NOT NULL AND (team_id, memory_id) > (%s::uuid, %s::uuid)
    ORDER BY team_id, memory_id LIMIT %s
) AS e
JOIN memory_memory m ON m.team_id = e.team_id AND m.id = e.memory_id
JOIN teams_enduser u ON u.team_id = e.team_id AND u.id = e.end_user_id
ORDER BY e.team_id, e.memory_id
"""
FILL = """
UPDATE memory_searchentry e SET people = string_to_array(given.people, ' ')
FROM unnest(%s::uuid[], %s::uuid[], %s::text[]) AS given (team_id, memory_id, people)
WHERE e.team_id = given.team_id AND e.memory_id = given.memory_id AND e.people = '{}'
"""
FIRST = "00000000-0000-0000-0000-000000000000"


def fill(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Say of each memory of a person whom it is about, as a new one does.

    Each batch is a transaction of its own; what was stopped goes on with what says nothing yet.
    """
    del apps
    last = (FIRST, FIRST)
    with schema_editor.connection.cursor() as cursor:
        while True:
            cursor.execute(UNKNOWN, [*last, BATCH])
            rows = cursor.fetchall()
            if not rows:
                return
            last = rows[-1][:2]
            known = []
            for team_id, memory_id, content, is_extracted, *names in rows:
                user = [name for name in names if name]
                people = user[:1] if is_extracted else people_of(content, user=user)
                words = " ".join(name_words(people))
                if words:
                    known.append((team_id, memory_id, words))
            if known:
                cursor.execute(FILL, [list(column) for column in zip(*known, strict=True)])


class Migration(migrations.Migration):
    # Nobody waits for a large database to be filled, and nothing done is lost when it is stopped.
    atomic = False
    dependencies = [
        ("memory", "0012_memories_by_time"),
        ("teams", "0001_initial"),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
