"""An argparse parser for mslite's programs.

It accepts `--name value` as well as `--name=value`, ignores the case of enumerated values, and reports an error in one
line
with a hint.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import mslite
from mslite.converter.command_line import Takes, canonical, is_value, joined, suggested_flag
from mslite.converter.help_text import group
from mslite.converter.spelling import nearest

_TRUTH = {"true": True, "false": False}


def one_of(*allowed: str) -> Callable[[str], str]:
    """Returns the argparse type of a flag that has one of these values. The type raises ArgumentTypeError for other
    values."""

    def value(text: str) -> str:
        found = canonical(text, allowed)
        if found is None:
            near = nearest(text, allowed)
            raise argparse.ArgumentTypeError(
                f"'{text}' must be one of {', '.join(allowed)}{f'; did you mean {near}?' if near else ''}"
            )
        return found

    return value


class CommandParser(argparse.ArgumentParser):
    """A parser of flags with values (`metavar`), switches, and positional arguments."""

    def __init__(self, program: str, description: str, examples: str = "") -> None:
        super().__init__(program, description=description, epilog=examples, allow_abbrev=False, add_help=False)

    def add_own(self) -> None:
        """Adds the flags that every program has, as the last group."""
        own = self.add_argument_group("help")
        own.add_argument(
            "--version",
            action="version",
            version=f"{self.prog} (mslite) {mslite.__version__}",
            help="print the version",
        )
        own.add_argument("-h", "--help", action="help", help="print this help")

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parses the command line as argparse does, but reports invalid flags before missing ones."""
        words = list(joined(sys.argv[1:] if args is None else args, self._takes))
        end = words.index("--") if "--" in words else len(words)
        checked = [one for word in words[:end] if (one := self._checked(word) if word.startswith("-") else word)]
        return super().parse_args([*checked, *words[end:]], namespace)

    def _checked(self, word: str) -> str:
        """Returns a flag in argparse's form: a switch without its value, or "" if its value is false. Exits if it is
        invalid."""
        name, equals, value = word.partition("=")
        action = self._option_string_actions.get(name)
        if action is None and word != "-":
            bare = name.lstrip("-")
            if bare.lower() in [action.dest for action in self._actions if not action.option_strings]:
                self.error(f"{name} is not a valid flag; give {bare.upper()} without a flag")
            flags = [option[2:] for option in self._option_string_actions if option.startswith("--")]
            self.error(f"{name} is not a valid flag{suggested_flag(word, flags)}")
        if action is not None and not equals and _needs_value(action):
            self.error(f"{name} needs a value: {name}={action.metavar}")
        if action is not None and equals and action.nargs == 0 and value.lower() in _TRUTH:
            return name if _TRUTH[value.lower()] else ""
        return word

    def error(self, message: str) -> NoReturn:
        """Prints the reason and a hint, and exits with status 2."""
        message = re.sub(r"^argument ([^:]*): ", lambda found: f"{found[1].split('/')[0]}: ", message)
        message = re.sub(
            r"^unrecognized arguments: (.*)$", r"unexpected argument: \1 (values with blanks need quotes)", message
        )
        message = re.sub(
            r"^(--[^ :]+): ignored explicit argument (.*)$", r"\1 is a switch and takes no value, not \2", message
        )
        self.exit(2, f"{self.prog}: {message}\n{self.prog} --help shows the flags\n")

    def format_help(self) -> str:
        """Returns the help text: the groups in the order in which they were added, with required flags marked."""
        words = [action for action in self._actions if not action.option_strings]
        needed = [_shown(action) for action in self._actions if action.option_strings and action.required]
        usage = " ".join([self.prog, *(_word(action) for action in words), *needed, "[options]"])
        parts = [f"usage: {usage}\n", f"{self.description}\n"]
        if words:
            parts.append(group("arguments", ((_word(action), action.help or "") for action in words)))
        for each in self._action_groups:
            actions = [action for action in each._group_actions if action.option_strings]
            actions.sort(key=lambda action: not action.required)  # the required ones first
            if actions:
                parts.append(group(each.title or "", ((_shown(action), _help(action)) for action in actions)))
        return "\n".join([*parts, self.epilog or ""])

    def _flag(self, name: str) -> argparse.Action | None:
        return self._option_string_actions.get(f"--{name}")

    def _takes(self, name: str) -> Takes | None:
        action = self._flag(name)
        if action is None:
            return None
        return is_value if _needs_value(action) else lambda word: word.lower() in _TRUTH


def _needs_value(action: argparse.Action) -> bool:
    return action.nargs is None


def _shown(action: argparse.Action) -> str:
    name = next((option for option in action.option_strings if option.startswith("--")), action.option_strings[0])
    return f"{name}={action.metavar}" if _needs_value(action) else name


def _word(action: argparse.Action) -> str:
    name = str(action.metavar or action.dest).upper()
    return {"+": f"{name}...", "?": f"[{name}]"}.get(str(action.nargs), name)


def _help(action: argparse.Action) -> str:
    return f"{action.help} (required)" if action.required else action.help or ""
