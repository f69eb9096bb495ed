"""Suggestions for misspelt words: commands, operators, types, versions, runtimes.

Without rich and onnx, as the table of commands uses it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import click

from cypool.cli import codes


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of an error message: the known words that are nearly this one, or nothing.

    A word that differs by upper and lower case alone is the only suggestion.

    >>> did_you_mean("chekc", ["check", "cases", "spec"])
    "; did you mean 'check'?"
    >>> did_you_mean("maxroipool", ["MaxPool", "MaxRoiPool"])
    "; did you mean 'MaxRoiPool'?"
    >>> did_you_mean("pool", ["check"])
    ''
    """
    by_lower_case = {name.lower(): name for name in known}
    lower = word.lower()
    found = [lower] if lower in by_lower_case else difflib.get_close_matches(lower, by_lower_case, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(repr(by_lower_case[name]) for name in found)}?" if found else ""


class Group(click.Group):
    """A group that suggests a command for a misspelt one; the help of each command says its exit
    codes.
    """

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; UsageError, with a suggestion, where there is none of that name."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise click.UsageError(f"No such command {args[0]!r}{did_you_mean(args[0], self.list_commands(ctx))}", ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, or None."""
        command = self.find_command(ctx, cmd_name)
        if isinstance(command, click.Group) or command is None:
            return command
        if codes.LEAD not in f"{command.help} {command.epilog}":
            command.epilog = codes.told()
        return command

    def find_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name as it was defined."""
        return super().get_command(ctx, cmd_name)
