"""Reads and checks the table of rules. Anything outside its fixed vocabulary is an error.

A rule about an operator has `kind` (of `kinds.py`) with arguments; `versions` with the rule (`all`, or a list); `effect`, the result of
breaking it (`refused`, `crash`, `memory`: access outside of buffers, `silent`: wrong results without a message); `read`, the source;
`when`, if it holds for some nodes only. A rule about the file, in `file.yaml`, has `name` (of `file_rules.py`), `versions`, `effect`,
`read`.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml

from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.ops.enums import DataType, Format, QuantType

from . import control_rules, load_rules, record_rules  # noqa: F401  they fill FILE_RULES
from .file_rules import FILE_RULES
from .kinds import KINDS, shown
from .relations import RELATIONS
from .view import VERSIONS, NodeView

EFFECTS = ("refused", "crash", "memory", "silent")

_FOLDER = Path(__file__).parent / "rules"
_FILE_TABLE = "file.yaml"
_COMMON = frozenset({"kind", "versions", "effect", "read", "when"})
_CONDITIONS = frozenset({"attributes", "inputs", "types", "quantized"})
_TYPES = set(DataType.__members__)
_NAMES = {
    "types": _TYPES,
    "source": _TYPES,
    "targets": _TYPES,
    "layouts": set(Format.__members__),
    "name": set(RELATIONS),
}


class TableError(ValueError):
    """The table contains something that is not in its vocabulary."""


@dataclass(frozen=True)
class Rule:
    """A rule."""

    operator: str
    """Operators of the rule; empty for rules about the file."""
    kind: str
    arguments: Mapping[str, Any]
    versions: frozenset[str]
    effect: str
    read: str
    when: Mapping[str, Any]

    @property
    def label(self) -> str:
        said = " ".join(f"{key}={value}" for key, value in self.arguments.items())
        return f"{self.kind} {said}".strip()

    def holds_for(self, node: NodeView) -> bool:
        """Returns whether the rule applies to the node."""
        op = node.node.primitive
        for name, wanted in self.when.get("attributes", {}).items():
            if shown(getattr(op, name)) not in map(str, wanted if isinstance(wanted, list) else [wanted]):
                return False
        if "inputs" in self.when and len(node.inputs) not in self.when["inputs"]:
            return False
        if "quantized" in self.when and node.node.quantType is not QuantType[self.when["quantized"]]:
            return False
        return "types" not in self.when or node.deciding.name in self.when["types"]

    def reason(self, node: NodeView) -> str | None:
        return KINDS[self.kind](node, **self.arguments)


@cache
def operator_rules() -> dict[str, list[Rule]]:
    """Returns every rule about an operator, by its name."""
    table: dict[str, list[Rule]] = {}
    for path in sorted(_FOLDER.glob("*.yaml")):
        if path.name != _FILE_TABLE:
            for operator, rules in parsed(_loaded(path), path.name).items():
                table.setdefault(operator, []).extend(rules)
    return table


@cache
def file_rules() -> list[Rule]:
    """Returns the rules about the file."""
    rows = yaml.safe_load((_FOLDER / _FILE_TABLE).read_text())
    rules = [_file_rule(row) for row in rows]
    missing = set(FILE_RULES) - {rule.kind for rule in rules}
    if missing:
        raise TableError(f"{_FILE_TABLE}: no row for {', '.join(sorted(missing))}")
    return rules


def _loaded(path: Path) -> Mapping[str, Any]:
    """Reads a table and rejects duplicate keys, which YAML would drop."""
    text = path.read_text()
    keys = [key.value for key, _ in yaml.compose(text).value]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise TableError(f"{path.name}: {', '.join(twice)} stand twice")
    return cast(Mapping[str, Any], yaml.safe_load(text))


def parsed(table: Mapping[str, Any], where: str) -> dict[str, list[Rule]]:
    """Reads the rules of one file. A key is an operator, or several with the same rules, separated by spaces."""
    result: dict[str, list[Rule]] = {}
    for operators, rows in table.items():
        for operator in operators.split():
            if operator not in OPERATORS:
                raise TableError(f"{where}: there is no operator {operator}")
            result.setdefault(operator, []).extend(_operator_rule(operator, row, where) for row in rows)
    return result


def _operator_rule(operator: str, row: Mapping[str, Any], where: str) -> Rule:
    what = f"{where}: {operator}: {dict(row)}"
    if row.get("kind") not in KINDS:
        raise TableError(f"{what}: there is no kind {row.get('kind')}")
    arguments = {key: value for key, value in row.items() if key not in _COMMON}
    _check_arguments(KINDS[row["kind"]], operator, arguments, what)
    when = row.get("when", {})
    _known(when, _CONDITIONS, what)
    _known(when.get("attributes", {}), _attributes(operator), what)
    _known(when.get("types", ()), _NAMES["types"], what)
    return Rule(operator, row["kind"], arguments, *_common(row, what), when)


def _file_rule(row: Mapping[str, Any]) -> Rule:
    what = f"{_FILE_TABLE}: {dict(row)}"
    _known(row, {"name", "versions", "effect", "read"}, what)
    _known([row.get("name")], set(FILE_RULES), what)
    return Rule("", row["name"], {}, *_common(row, what), {})


def _common(row: Mapping[str, Any], what: str) -> tuple[frozenset[str], str, str]:
    for key in ("versions", "effect", "read"):
        if not row.get(key):
            raise TableError(f"{what}: {key} is missing")
    versions = VERSIONS if row["versions"] == "all" else row["versions"]
    if isinstance(versions, str):
        raise TableError(f"{what}: versions are a list, or all")
    _known(versions, set(VERSIONS), what)
    _known([row["effect"]], set(EFFECTS), what)
    return frozenset(versions), row["effect"], row["read"]


def _check_arguments(function: Any, operator: str, arguments: Mapping[str, Any], what: str) -> None:
    hints = typing.get_type_hints(function)
    wanted = {n: p for n, p in inspect.signature(function).parameters.items() if p.kind is p.KEYWORD_ONLY}
    _known(arguments, set(wanted), what)
    for name, parameter in wanted.items():
        if name not in arguments:
            if parameter.default is parameter.empty:
                raise TableError(f"{what}: {name} is missing")
        elif not _fits(arguments[name], hints[name]):
            raise TableError(f"{what}: {name} is not {hints[name]}")
    _known([arguments[key] for key in ("attribute",) if key in arguments], _attributes(operator), what)
    for name, names in _NAMES.items():
        if name in arguments:
            given = arguments[name]
            _known(given if isinstance(given, list) else [given], names, what)
    if "values" in arguments:
        _check_values(operator, arguments, what)


def _check_values(operator: str, arguments: Mapping[str, Any], what: str) -> None:
    declared = OPERATORS[operator].declaration.attributes
    enum = next(each.enum for each in declared if each.name == arguments["attribute"])
    if enum is not None:
        _known(arguments["values"], set(enum.__members__), what)


def _attributes(operator: str) -> set[str]:
    return {attribute.name for attribute in OPERATORS[operator].declaration.attributes}


def _known(given: Iterable[Any], known: Iterable[Any], what: str) -> None:
    unknown = sorted(str(each) for each in set(given) - set(known))
    if unknown:
        raise TableError(f"{what}: {', '.join(unknown)} is unknown here")


def _fits(value: Any, hint: Any) -> bool:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, each) for each in inner)
    if origin is list:
        return isinstance(value, list) and all(_fits(each, inner[0]) for each in value)
    if isinstance(value, bool):
        return hint is bool
    return isinstance(value, (int, float) if hint is float else hint)
