"""Reads the INI file of `--configFile`, in the format of MindSpore Lite's converter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from mslite.converter.command_line import canonical
from mslite.converter.dynamic_dims import SECTION, parse_dynamic_dims
from mslite.converter.errors import ConversionError, ReturnCode, UsageError
from mslite.converter.ethosu.settings import SECTION as NPU_SECTION
from mslite.converter.mindir.graph import Shape
from mslite.converter.registry.plugins import plugin_files
from mslite.converter.spelling import check_keys, nearest
from mslite.converter.training.config_section import SECTION as TRAIN_SECTION
from mslite.converter.training.sparse_update import SECTION as SPARSE_SECTION
from mslite.quantizer.settings import SECTIONS as QUANTIZER_SECTIONS
from mslite.quantizer.settings import QuantizerSettings, quantizer_settings, section_of

MAX_LINES = 9999
_ASCEND = "Ascend is not a target of this converter"
_NOT_BUILT: dict[str, str] = {
    "cpu_option_cfg_param": "packing weights for one processor is not supported in this version",
    "graph_kernel_param": "graph kernels are not supported in this version",
    "acl_option_cfg_param": _ASCEND,
    "ascend_context": _ASCEND,
    "acl_init_options": _ASCEND,
    "acl_build_options": _ASCEND,
    "aoe_global_options": _ASCEND,
    "aoe_tuning_options": _ASCEND,
    "om_converter": _ASCEND,
}
_GENERATOR = ("micro_param", "model_param")
"""Sections that the code generator reads."""
_REGISTRY_KEYS = ("plugin_path", "disable_fusion", "fusion_blacklists")

Sections = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class ConfigChoices:
    """The settings of a configuration file."""

    sections: Sections = field(default_factory=dict)
    """All sections, for plug-ins."""
    plugins: tuple[Path, ...] = ()
    fusion: bool = True
    disabled_fusions: frozenset[str] = frozenset()
    dynamic_dims: Mapping[str, Shape] = field(default_factory=dict)
    quantizer: QuantizerSettings = field(default_factory=QuantizerSettings)


def read_config(path: Path) -> dict[str, dict[str, str]]:
    """Returns the sections of a file; sections of the same name are merged.

    Raises ConversionError if the file cannot be read, UsageError for an invalid line.
    """
    sections: dict[str, dict[str, str]] = {}
    for name, keys in read_sections(path):
        sections.setdefault(name, {}).update(keys)
    return sections


def read_sections(path: Path) -> list[tuple[str, dict[str, str]]]:
    """Returns the sections in the order of the file, not merged: [model_param] may occur several times."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConversionError(
            f"{path}: the configuration cannot be read: {reason}", code=ReturnCode.FILE_ERROR
        ) from None
    if len(lines) > MAX_LINES:
        raise UsageError(f"{path}: more than {MAX_LINES} lines")
    sections: list[tuple[str, dict[str, str]]] = []
    for number, raw in enumerate(lines, 1):
        if raw.startswith("#"):
            continue
        line = raw.replace(" ", "").replace("\t", "").replace('"', "").rstrip("\r")
        if not line:
            continue
        if line.startswith("["):
            if not line.endswith("]") or len(line) < 3:
                raise UsageError(f"{path}, line {number}: '{raw}' is not a section; write [name]")
            sections.append((line[1:-1], {}))
            continue
        if line.count("=") != 1 or line.startswith("="):
            raise UsageError(f"{path}, line {number}: '{raw}' must be key=value with exactly one '='")
        key, value = line.split("=")
        if not sections:
            home = section_of(key)
            hint = f"it belongs to [{home}]" if home else "write the [section] that it belongs to above it"
            raise UsageError(f"{path}, line {number}: '{key}' is not in a section; {hint}")
        sections[-1][1][key] = value
    return sections


def choices_of(sections: Sections, warn: Callable[[str], None], folder: Path | None = None) -> ConfigChoices:
    """Returns the settings of the sections; plug-ins are also searched for in `folder`, the folder of the file.

    Raises UsageError for an invalid value, ConversionError for an unsupported section and for missing plug-ins.
    """
    choices = _registry(sections.get("registry", {}), folder)
    for name in sections:
        if name in _NOT_BUILT:
            raise ConversionError(f"configuration section [{name}]: {_NOT_BUILT[name]}", code=ReturnCode.NOT_SUPPORTED)
        keys = set(sections[name])
        if keys & {"device0", "device1", "computeRate"}:
            raise ConversionError(
                f"configuration section [{name}]: splitting a model between devices is not supported in this version",
                code=ReturnCode.NOT_SUPPORTED,
            )
        known = ("registry", SECTION, NPU_SECTION, TRAIN_SECTION, SPARSE_SECTION, *QUANTIZER_SECTIONS, *_GENERATOR)
        if name in known:
            continue
        if near := nearest(name, (*known, *_NOT_BUILT)):
            raise UsageError(f"INPUT ILLEGAL: configuration section [{name}] is unknown; did you mean [{near}]?")
        if not choices.plugins:  # plug-ins may define further sections
            warn(f"configuration section [{name}] is unknown and has no effect")
    choices = replace(choices, sections=sections)
    if SECTION in sections:
        choices = replace(choices, dynamic_dims=parse_dynamic_dims(sections[SECTION]))
    return replace(choices, quantizer=quantizer_settings(sections))


def _registry(section: Mapping[str, str], folder: Path | None) -> ConfigChoices:
    check_keys(section, "registry", _REGISTRY_KEYS)
    disable = canonical(section.get("disable_fusion", "off"), ("on", "off"))
    if disable is None:
        raise UsageError(f"INPUT ILLEGAL: disable_fusion must be on|off, not '{section['disable_fusion']}'")
    names = frozenset(name for name in section.get("fusion_blacklists", "").split(",") if name)
    plugins = plugin_files(section.get("plugin_path", ""), folder)
    return ConfigChoices(plugins=plugins, fusion=disable == "off", disabled_fusions=names)
