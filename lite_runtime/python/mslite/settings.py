"""Settings: the base class of the API's settings, with functions that check values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar


def checked(name: str, value: Any, kind: type[Any]) -> Any:
    """Returns the value. Raises TypeError if it does not have the type `kind`; a bool is not accepted as an int."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"{name} must be {kind.__name__}, not {type(value).__name__}")
    return value


def integer(name: str, value: Any, least: int = 0, most: int = 2**31 - 1) -> int:
    """Returns the value. Raises TypeError if it is not an int, ValueError if it is not in [least, most]."""
    number: int = checked(name, value, int)
    if number < least:
        raise ValueError(f"{name} must be at least {least}, not {number}")
    if number > most:
        raise ValueError(f"{name} must be at most {most}, not {number}")
    return number


def integers(name: str, values: Any) -> list[int]:
    """Returns a copy of a list of int. Raises TypeError for other types, ValueError for negative values."""
    if not isinstance(values, list | tuple):
        raise TypeError(f"{name} must be a list of int, not {type(values).__name__}")
    return [integer(name, value) for value in values]


def strings(name: str, values: Any) -> list[str]:
    """Returns a copy of a list of str. Raises TypeError for other types."""
    if not isinstance(values, list | tuple):
        raise TypeError(f"{name} must be a list of str, not {type(values).__name__}")
    return [checked(f"an entry of {name}", value, str) for value in values]


def choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Returns the value. Raises TypeError if it is not a str, ValueError if it is not one of `choices`."""
    if checked(name, value, str) not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")
    return str(value)


def sections(name: str, value: Any) -> dict[str, dict[str, str]]:
    """Returns a copy of a configuration by section and key. Raises TypeError unless it is a dict of dicts of str."""
    result: dict[str, dict[str, str]] = {}
    for section, entries in checked(name, value, dict).items():
        checked(f"a section of {name}", section, str)
        result[section] = dict(checked(f"{name}[{section!r}]", entries, dict))
        for key, entry in result[section].items():
            checked(f"a key of {name}[{section!r}]", key, str)
            checked(f"{name}[{section!r}][{key!r}]", entry, str)
    return result


def pluralized(number: int, what: str) -> str:
    """Returns a number with a noun: 1 input, 2 inputs."""
    return f"{number} {what}{'' if number == 1 else 's'}"


class StrictAttributes:
    """Raises AttributeError if an unknown attribute is set. A misspelled setting would otherwise have no effect."""

    if not TYPE_CHECKING:  # for a type checker, a __setattr__ would mean that any name can be set

        def __setattr__(self, name: str, value: object) -> None:
            if not name.startswith("_") and not self._has(name):
                raise AttributeError(f"{type(self).__name__} has no setting '{name}'{_meant(name, self._settings())}")
            super().__setattr__(name, value)

    def _has(self, name: str) -> bool:
        return hasattr(type(self), name)

    def _settings(self) -> list[str]:
        """Returns the names of the settings."""
        kind = type(self)
        return [
            name for name in dir(kind) if isinstance(known := getattr(kind, name), property) and known.fset is not None
        ]


def _meant(name: str, settings: list[str]) -> str:
    """Returns a hint for an unknown name: the most similar setting, else all settings."""
    from difflib import get_close_matches  # imported only if there is an error

    exact = [one for one in settings if one.rpartition(".")[2] == name]
    last = {one.rpartition(".")[2]: one for one in reversed(settings)}
    near = exact or [last[one] for one in get_close_matches(name.lower(), last, 1, _NEAR)]
    return f"; did you mean '{near[0]}'?" if near else f"; it has {', '.join(settings)}"


_NEAR = 0.55
"""Minimum similarity of two names, as computed by difflib."""


class Settings(StrictAttributes):
    """A set of attributes with default values. Only values that differ from the default are printed."""

    _names: ClassVar[tuple[str, ...]] = ()

    if not TYPE_CHECKING:  # for a type checker, a __setattr__ would mean that any name can be set

        def __setattr__(self, name: str, value: object) -> None:
            kind = type(vars(self).get(name, value))
            if issubclass(kind, Settings) and not isinstance(value, kind):
                raise TypeError(
                    f"{name} must be {kind.__name__}, not {type(value).__name__}; its settings are set one by one"
                )
            super().__setattr__(name, value)

    def _has(self, name: str) -> bool:
        return name in self._names

    def _settings(self) -> list[str]:
        inner = {name: vars(self).get(name) for name in self._names}
        return [
            *self._names,
            *(f"{name}.{one}" for name, kind in inner.items() if isinstance(kind, Settings) for one in kind._names),
        ]

    def changes(self) -> dict[str, Any]:
        """Returns the attributes that differ from their defaults. Names of nested settings contain a dot."""
        usual = type(self)()
        result: dict[str, Any] = {}
        for name in self._names:
            value = getattr(self, name)
            if isinstance(value, Settings):
                result.update({f"{name}.{inner}": change for inner, change in value.changes().items()})
            elif value != getattr(usual, name):
                result[name] = value
        return result

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.changes().items())})"
