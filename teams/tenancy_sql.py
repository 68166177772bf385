"""SQL that migrations run to put a table under the team's guarantees."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from django.db.migrations import RunSQL

APP_ROLE = "palimpsest_app"


def tenant_table(table: str, *, rights: str, key: str = "id") -> RunSQL:
    """Key the table by (team, `key`), hold the application's role to its teams' rows and `rights`.

    The new key is what references from other tables use, so a row and what it points to always
    belong to one team.
    """
    return RunSQL(
        f"""
        SELECT palimpsest_key_by_team('{table}'::regclass, '{key}');
        ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
        CREATE POLICY team_rows ON {table}
            USING (team_id = ANY ((SELECT palimpsest_team_ids())::uuid[]))
            WITH CHECK (team_id = ANY ((SELECT palimpsest_team_ids())::uuid[]));
        REVOKE ALL ON {table} FROM {APP_ROLE};
        GRANT {rights} ON {table} TO {APP_ROLE};
        """,
        reverse_sql=RunSQL.noop,
    )


def tenant_references(
    table: str, references: Iterable[tuple[str, str]], *, at_commit: bool = False
) -> RunSQL:
    """Lets `table.column` point only to rows of `target` in the same team, or checks at commit."""
    when = " DEFERRABLE INITIALLY DEFERRED" if at_commit else ""
    return RunSQL(
        "".join(
            f"ALTER TABLE {table} ADD CONSTRAINT {table}_{column}_same_team"
            f" FOREIGN KEY (team_id, {column}) REFERENCES {target} (team_id, id){when};\n"
            for column, target in references
        ),
        reverse_sql=RunSQL.noop,
    )


def append_only(table: str) -> RunSQL:
    """Make UPDATE, DELETE and TRUNCATE of the table fail for every role, the owner included."""
    return RunSQL(
        f"""
        CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON {table}
            FOR EACH ROW EXECUTE FUNCTION palimpsest_refuse();
        CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON {table}
            FOR EACH STATEMENT EXECUTE FUNCTION palimpsest_refuse();
        """,
        reverse_sql=f"""
        DROP TRIGGER append_only ON {table};
        DROP TRIGGER append_only_truncate ON {table};
        """,
    )


def sql_files(migration: str, *names: str) -> list[RunSQL]:
    """Run files of the folder `sql/` beside the migration's folder; `migration` is its __file__."""
    folder = Path(migration).parent.parent / "sql"
    return [RunSQL((folder / f"{name}.sql").read_text(), RunSQL.noop) for name in names]


def owners_triggers() -> RunSQL:
    """Let nobody else run trigger functions that have their owner's rights.

    Whoever may run one may set it on a table of their own.
    """
    return RunSQL(
        """
        DO $$
        DECLARE
            held regprocedure;
        BEGIN
            FOR held IN
                SELECT p.oid FROM pg_proc p
                WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef
                    AND p.prorettype = 'trigger'::regtype AND p.proowner = current_user::regrole
            LOOP
                EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', held);
            END LOOP;
        END
        $$
        """,
        reverse_sql=RunSQL.noop,
    )
