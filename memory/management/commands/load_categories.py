"""`manage.py load_categories`: a team's categories and its agents' allowlists from a YAML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from django.core.management.base import BaseCommand, CommandError, CommandParser

from memory.domain.categories import CategoryFile, CategoryFileError, read_category_file
from memory.writing.categories import load_categories
from teams.errors import InvalidError
from teams.management.arguments import check_team_slug, team_named

ACTOR = "command:load_categories"
MAX_BYTES = 1_000_000


class Command(BaseCommand):
    """Load the file; loading it again changes nothing."""

    help = (
        "Make a team's categories, and the categories that its agents may read, those of a YAML"
        " file. The whole file is checked first; with a mistake in it nothing is changed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the YAML file")
        parser.add_argument("--team", required=True, help="slug of the team")
        parser.add_argument(
            "--create-team", action="store_true", help="create the team when there is none"
        )

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        check_team_slug(options["team"])
        file = _read(options["file"])
        team_id = team_named(
            options["team"],
            create=options["create_team"],
            actor=ACTOR,
            not_done="nothing was loaded",
        )
        try:
            changes = load_categories(team_id=team_id, file=file, actor=ACTOR)
        except InvalidError as error:
            raise CommandError(f"Nothing was changed. {error.message}") from None
        for name in file.undefined:
            self.stderr.write(f"'{name}' stands in an allowlist and is no category of the file.")
        for change in changes:
            self.stdout.write(change)
        self.stdout.write(
            f"Team {options['team']}: {len(file.categories)} categories,"
            f" {len(file.allowlists)} allowlists, {len(changes) or 'no'}"
            f" change{'' if len(changes) == 1 else 's'}."
        )


class _OnceLoader(yaml.SafeLoader):
    """Plain data only, and no key twice: YAML would drop the first without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """The mapping of a node; Any: its keys and values are whatever the file holds."""
        seen = set()
        for key_node, _ in node.value:
            if isinstance(key_node, yaml.ScalarNode):
                if key_node.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"'{key_node.value}' stands there twice", key_node.start_mark
                    )
                seen.add(key_node.value)
        return super().construct_mapping(node, deep=deep)


def _read(path: Path) -> CategoryFile:
    """The whole file, checked; CommandError names it and all that is wrong with its contents."""
    try:
        text = path.read_bytes()[: MAX_BYTES + 1]
        if len(text) > MAX_BYTES:
            raise CommandError(f"{path}: Has more than {MAX_BYTES} bytes.")
        data = yaml.load(text.decode("utf-8-sig"), Loader=_OnceLoader)  # noqa: S506 - a safe one
        return read_category_file(data)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise CommandError(f"{path}: Is not UTF-8 text.") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        if isinstance(error, CategoryFileError):
            lines = "\n".join(f"  {problem}" for problem in error.problems)
            raise CommandError(f"{path}: Nothing was changed.\n{lines}") from None
        raise CommandError(f"{path}: Is not YAML ({error}).") from None
