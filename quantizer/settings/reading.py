"""Converts the sections of `--configFile` to typed settings, and checks keys that depend on each other."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from mslite.converter.errors import UsageError
from mslite.converter.spelling import check_keys
from mslite.quantizer.settings.sections import SECTIONS, Method, QuantizerSettings

Sections = Mapping[str, Mapping[str, str]]

_NOTHING = """\
[{section}] has no effect without quant_type. Set quant_type=WEIGHT_QUANT, FULL_QUANT or DYNAMIC_QUANT in \
[common_quant_param] (or `quant_type=` to disable quantization), or remove the section"""

_T = TypeVar("_T")


def section_of(name: str) -> str | None:
    """Returns the section of the quantizer with a key `name`; None if no section or several have it."""
    found = [
        section for section, (_, kind) in SECTIONS.items() if name in {one.name for one in dataclasses.fields(kind)}
    ]
    return found[0] if len(found) == 1 else None


def read_section(kind: type[_T], section: str, keys: Mapping[str, str]) -> _T:
    """Converts one section to its dataclass. Raises UsageError for an unknown key or a wrong value."""
    fields = {item.name: item for item in dataclasses.fields(kind)}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    check_keys(keys, section, fields, section_of)
    for name, text in keys.items():
        if text == "" and fields[name].default in ("", None, ()):
            continue
        try:
            values[name] = fields[name].metadata["parse"](text)
        except ValueError as error:
            raise UsageError(f"INPUT ILLEGAL: {name} in [{section}] must be {error}, not '{text}'") from None
    return kind(**values)


def quantizer_settings(sections: Sections) -> QuantizerSettings:
    """Converts the sections of a configuration to settings.

    Raises UsageError for wrong values, and for sections that have no effect because `quant_type` is missing.
    """
    typed = {
        name: read_section(kind, section, sections[section])
        for section, (name, kind) in SECTIONS.items()
        if section in sections
    }
    asked = bool(sections.get("common_quant_param", {}).get("quant_type"))
    prunes = bool(sections.get("mslite_prune_param", {}).get("method"))
    is_said = "quant_type" in sections.get("common_quant_param", {}) or prunes
    for section, (name, _) in SECTIONS.items():
        if section in sections and not is_said and name not in ("transform", "prune"):
            raise UsageError(f"INPUT ILLEGAL: {_NOTHING.format(section=section)}")
    if not asked:  # ignores the sections that only concern quantization
        typed = {
            name: one for name, one in typed.items() if name in ("transform", "prune") or (prunes and name == "data")
        }
    settings = QuantizerSettings(**typed)
    if asked or prunes:
        _check(settings)
    return settings


def _check(settings: QuantizerSettings) -> None:
    """Checks keys that depend on each other. Raises UsageError."""
    common, data = settings.common, settings.data
    if common.bit_num == 0 and settings.method is not Method.WEIGHT_QUANT:
        raise UsageError("INPUT ILLEGAL: bit_num=0 (mixed bits) in [common_quant_param] is for WEIGHT_QUANT only")
    if settings.method is Method.DYNAMIC_QUANT and common.bit_num != 8:
        raise UsageError("INPUT ILLEGAL: bit_num in [common_quant_param] must be 8 for DYNAMIC_QUANT")
    if settings.method is Method.WEIGHT_QUANT and not common.enable_encode and common.bit_num not in (8, 16):
        raise UsageError("INPUT ILLEGAL: enable_encode in [common_quant_param] must be true unless bit_num is 8 or 16")
    if settings.full.method:
        _check_tuning(settings)
    if settings.prune.method == "MAGNITUDE" and settings.weight.quant_strategy == "GPTQ":
        raise UsageError(
            "INPUT ILLEGAL: method=MAGNITUDE in [mslite_prune_param] cannot be combined with quant_strategy=GPTQ in"
            " [weight_quant_param], because GPTQ changes weights that are zero; use AWQ or MAX_MIN, which keep them"
        )
    resize = (data.resize_width, data.resize_height, data.resize_method)
    if any(resize) and not all(resize):
        raise UsageError(
            "INPUT ILLEGAL: resize_width, resize_height and resize_method in [data_preprocess_param] must be set"
            " together"
        )
    if bool(data.center_crop_width) != bool(data.center_crop_height):
        raise UsageError(
            "INPUT ILLEGAL: center_crop_width and center_crop_height in [data_preprocess_param] must be set together"
        )
    if bool(data.normalize_mean) != bool(data.normalize_std):
        raise UsageError(
            "INPUT ILLEGAL: normalize_mean and normalize_std in [data_preprocess_param] must be set together"
        )
    if len(data.normalize_mean) != len(data.normalize_std):
        raise UsageError("INPUT ILLEGAL: normalize_mean and normalize_std in [data_preprocess_param] differ in length")
    if 0 in data.normalize_std:
        raise UsageError("INPUT ILLEGAL: normalize_std in [data_preprocess_param] must not be 0")
    if data.calibrate_path and (not data.calibrate_size or data.input_type is None):
        raise UsageError("INPUT ILLEGAL: calibrate_path in [data_preprocess_param] needs calibrate_size and input_type")


def _check_tuning(settings: QuantizerSettings) -> None:
    """Checks the settings that cannot be combined with method=QAT. Raises UsageError."""
    what = "INPUT ILLEGAL: method=QAT in [full_quant_param]"
    if settings.method is not Method.FULL_QUANT:
        raise UsageError(f"{what} is for quant_type=FULL_QUANT in [common_quant_param] only")
    if settings.common.bit_num > 8:
        raise UsageError(f"{what} is for int8 activations: bit_num in [common_quant_param] must be at most 8")
    if settings.methods.learned_rounding:
        raise UsageError(
            f"{what} cannot be combined with learned_rounding=true in [mslite_quant_param]: both decide how weights are"
            " rounded"
        )
    if settings.prune.method == "MAGNITUDE":
        raise UsageError(
            f"{what} cannot be combined with method=MAGNITUDE in [mslite_prune_param], because it changes weights that"
            " are zero"
        )
