"""Settings for the NPU: `--target` and the section [ethos_u] of the configuration file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mslite.converter.errors import UsageError
from mslite.converter.spelling import check_keys, nearest

SECTION = "ethos_u"

TARGETS = (
    "ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-256", "ethos-u65-256", "ethos-u65-512",
    "ethos-u85-128", "ethos-u85-256", "ethos-u85-512", "ethos-u85-1024", "ethos-u85-2048",
)  # fmt: skip
"""Supported targets; the last number is multiply-accumulates per cycle."""
_SHORT = {"ethos-u55": "ethos-u55-128", "ethos-u65": "ethos-u65-256", "ethos-u85": "ethos-u85-256"}
_SYSTEMS = {
    "ethos-u55": "Ethos_U55_High_End_Embedded",
    "ethos-u65": "Ethos_U65_Embedded",
    "ethos-u85": "Ethos_U85_SYS_Flash_High",
}
"""Systems of vela's configuration with constants in flash and the rest in SRAM, as in generated C projects."""
_MEMORY_MODE = "Shared_Sram"
_STRATEGIES = ("Performance", "Size")
_TIME_LIMIT = 600
_KEYS = ("target", "system_config", "memory_mode", "vela_config", "optimise", "arena_cache_size", "time_limit")


@dataclass(frozen=True)
class NpuSettings:
    """Options for vela."""

    accelerator: str
    """Name with size, such as `ethos-u55-128`."""
    system_config: str
    memory_mode: str = _MEMORY_MODE
    vela_config: Path | None = None
    """Configuration file with systems and memory modes; None: vela's default file."""
    optimise: str = "Performance"
    arena_cache_size: int | None = None
    """SRAM in bytes that vela optimizes for."""
    time_limit: int = _TIME_LIMIT
    """Time limit in seconds for one subgraph."""


def npu_settings(target: str, section: Mapping[str, str], folder: Path | None = None) -> NpuSettings | None:
    """Returns the settings of the flag and the section; None without an NPU. `folder` is that of the configuration
    file.

    Raises UsageError.
    """
    check_keys(section, SECTION, _KEYS)
    name = target or section.get("target", "")
    if not name:
        if section:
            raise UsageError(
                f"INPUT MISSING: [{SECTION}] needs --target=ethos-u55, or target= in this section: {_named()}"
            )
        return None
    accelerator = _SHORT.get(name, name)
    if accelerator not in TARGETS:
        near = nearest(name, (*_SHORT, *TARGETS))
        meant = f"; did you mean {near}?" if near else ""
        raise UsageError(f"INPUT ILLEGAL: target must be {_named()}{meant}")
    optimise = section.get("optimise", _STRATEGIES[0])
    if optimise not in _STRATEGIES:
        raise UsageError(f"INPUT ILLEGAL: optimise of [{SECTION}] must be {'|'.join(_STRATEGIES)}")
    config = _file(section["vela_config"], folder) if "vela_config" in section else None
    if config is not None and "system_config" not in section:
        raise UsageError(
            f"INPUT MISSING: vela_config of [{SECTION}] needs system_config, the name of a system in that file"
        )
    return NpuSettings(
        accelerator,
        section.get("system_config", _SYSTEMS[accelerator.rpartition("-")[0]]),
        section.get("memory_mode", _MEMORY_MODE),
        config,
        optimise,
        _number(section, "arena_cache_size"),
        _number(section, "time_limit") or _TIME_LIMIT,
    )


def _named() -> str:
    return f"{'|'.join(_SHORT)}, or one of {', '.join(TARGETS)}"


def _number(section: Mapping[str, str], key: str) -> int | None:
    text = section.get(key)
    if text is None:
        return None
    if not text.isdecimal() or int(text) == 0:
        raise UsageError(f"INPUT ILLEGAL: {key} of [{SECTION}] must be a positive number")
    return int(text)


def _file(name: str, folder: Path | None) -> Path:
    path = Path(name) if folder is None else folder / name
    if not path.is_file():
        raise UsageError(f"INPUT ILLEGAL: vela_config of [{SECTION}]: the file {path} does not exist")
    return path
