"""The quantisation sections of `--configFile`, typed: one dataclass per section, one field per key.

Names, values and defaults are those of MindSpore Lite's converter; keys that only this quantizer has say so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from mslite.converter.errors import UsageError
from mslite.converter.spelling import check_keys
from mslite.quantizer.keys import SIZE, boolean, choice, folder, folders, integer, key, member, names, real, reals
from mslite.quantizer.metrics import Budget, parse_budget

Sections = Mapping[str, Mapping[str, str]]


class Method(Enum):
    """What is quantised, and when."""

    WEIGHT_QUANT = "WEIGHT_QUANT"
    FULL_QUANT = "FULL_QUANT"
    DYNAMIC_QUANT = "DYNAMIC_QUANT"


class ActivationMethod(Enum):
    """How the range of an activation is found from calibration data; the last four are this quantizer's own."""

    MAX_MIN = "MAX_MIN"
    KL = "KL"
    REMOVAL_OUTLIER = "REMOVAL_OUTLIER"
    MSE = "MSE"
    PERCENTILE = "PERCENTILE"
    ENTROPY = "ENTROPY"
    AUTO = "AUTO"
    """The one of several that serves the model best on its calibration data (range_choice.py)."""


class TargetDevice(Enum):
    """Hardware whose rules the integers follow; CPU is the configuration's empty text."""

    CPU = ""
    KIRIN = "KIRIN"
    NVGPU = "NVGPU"
    DSP = "DSP"
    ASCEND = "ASCEND"


class InputType(Enum):
    """What the calibration files hold; NPY (also `.npz`) is this quantizer's own."""

    IMAGE = "IMAGE"
    BIN = "BIN"
    NPY = "NPY"


@dataclass(frozen=True)
class CommonQuantParam:
    """[common_quant_param]; with an empty `quant_type` nothing is quantised, whatever the other sections say."""

    quant_type: Method | None = key(None, member(Method))
    bit_num: int = key(8, integer(0, 16))
    """Bits of a stored weight; WEIGHT_QUANT: 0 is mixed bits. FULL_QUANT: 9 to 16 makes activations int16."""
    min_quant_weight_size: int = key(0, integer(0, 65535))
    """Weights with more elements only."""
    min_quant_weight_channel: int = key(16, integer(0, 65535))
    """Convolutions with more output channels only."""
    skip_quant_node: tuple[str, ...] = key((), names)
    debug_info_save_path: Path | None = key(None, folder)
    enable_encode: bool = key(True, boolean)
    workspace: Path | None = key(None, folder)


@dataclass(frozen=True)
class WeightQuantParam:
    """[weight_quant_param]"""

    per_channel: bool = key(True, boolean)
    bias_correction: bool = key(True, boolean)
    quant_strategy: str = key("MAX_MIN", choice("MAX_MIN", "GPTQ", "AWQ"))
    dequant_strategy: str = key("", choice("", "ON_THE_FLY"))
    update_mindir: bool = key(True, boolean)
    max_segments: int = key(1, integer(1, 65535))
    compression: str = key("auto", choice("auto", "huffman"))
    """Ours: `huffman` stores int8 weights in Huffman code, which MindSpore Lite reads but never writes."""


@dataclass(frozen=True)
class MixedBitWeightQuantParam:
    """[mixed_bit_weight_quant_param]"""

    init_scale: float = key(0.02, real(0, 1, "a number in (0, 1)"))
    auto_tune: bool = key(False, boolean)
    use_cv_data: bool = key(False, boolean)
    max_iterations: int = key(40, integer(40, 65535))


@dataclass(frozen=True)
class FullQuantParam:
    """[full_quant_param]"""

    activation_quant_method: ActivationMethod = key(
        ActivationMethod.MAX_MIN, member(ActivationMethod, {"RemovalOutlier": "REMOVAL_OUTLIER"})
    )
    bias_correction: bool = key(True, boolean)
    per_channel: bool = key(True, boolean)
    target_device: TargetDevice = key(TargetDevice.CPU, member(TargetDevice))
    smooth_alpha: float = key(0.5, real(0, 1, "a number in (0, 1)"))
    enable_smooth_shift: bool = key(False, boolean)
    percentile: float = key(99.99, real(50, 100, "a number in (50, 100)"))
    """Ours: the share of values that PERCENTILE keeps, in percent."""


@dataclass(frozen=True)
class DynamicQuantParam:
    """[dynamic_quant_param]; ALWC: activations per layer, weights per channel; ACWL: the other way round."""

    quant_strategy: str = key("ALWC", choice("ALWC", "ACWL"))


@dataclass(frozen=True)
class TransformQuantParam:
    """[transform_quant_param]: whether the quantisation of an already quantised source stays."""

    export_precision_mode: str = key("QUANT", choice("QUANT", "FLOAT32"))


@dataclass(frozen=True)
class DataPreprocessParam:
    """[data_preprocess_param]: calibration files and what is done to them."""

    calibrate_path: dict[str, Path] = key({}, folders)
    calibrate_size: int = key(0, SIZE)
    input_type: InputType | None = key(None, member(InputType))
    image_to_format: str = key("", choice("RGB", "GRAY", "BGR"))
    normalize_mean: tuple[float, ...] = key((), reals)
    normalize_std: tuple[float, ...] = key((), reals)
    resize_width: int = key(0, SIZE)
    resize_height: int = key(0, SIZE)
    resize_method: str = key("", choice("NEAREST", "LINEAR", "CUBIC"))
    center_crop_width: int = key(0, SIZE)
    center_crop_height: int = key(0, SIZE)


@dataclass(frozen=True)
class AccuracyParam:
    """[accuracy_param], ours: what FULL_QUANT may cost, how that is searched for, and the report of it."""

    budget: Budget | None = key(None, parse_budget)
    """As cosine:0.99, sqnr:25, top1:0.5 or package.module:function:VALUE."""
    report: Path | None = key(None, folder)
    """The HTML page to write."""
    workspace: Path | None = key(None, folder)
    """Where results of the search are kept, so that an interrupted one goes on; beside the output when left out."""
    processes: int = key(0, integer(0, 1024))
    """How many processes search; 0 is one per usable core."""
    cluster: str = key("", str)
    """The address of a Dask scheduler, as tcp://host:8786."""


@dataclass(frozen=True)
class MethodsParam:
    """[mslite_quant_param], ours: better integers by more work; each method alone or together with others."""

    equalise: bool = key(False, boolean)
    """FULL_QUANT: scales move between neighbouring products (equalise.py)."""
    smooth: bool = key(False, boolean)
    """FULL_QUANT: outliers of activations move into weights (smooth.py); `smooth_alpha` of [full_quant_param]."""
    learned_rounding: bool = key(False, boolean)
    """FULL_QUANT: whether a weight is rounded up or down is learned on the calibration data (rounding.py)."""
    rounding_iterations: int = key(300, integer(1, 100000))
    group_size: int = key(0, integer(0, 65536))
    """WEIGHT_QUANT: so many neighbouring weights of a channel share a scale; 0: all of a channel."""
    small_channels: str = key("CHANNEL", choice("CHANNEL", "TENSOR"))
    """WEIGHT_QUANT: TENSOR is MindSpore Lite's rule for weights whose channels have few elements (at most 256 / (32 - bits),
    with `bias_correction`), depthwise convolutions above all: one scale for all of them, which costs accuracy. CHANNEL:
    a scale each, which takes 32 to 40 bytes."""
    keep_integers: bool = key(False, boolean)
    """WEIGHT_QUANT: matrices of 8 bits or fewer stay integers in memory; products make them real as they read them."""


@dataclass(frozen=True)
class PruneParam:
    """[mslite_prune_param], ours: weights or channels that matter least are removed before anything else."""

    method: str = key("", choice("", "MAGNITUDE", "STRUCTURED"))
    sparsity: float = key(0.5, real(0, 1, "a number in (0, 1)"))
    """The share of each weight's elements, or of each layer's channels, that is removed."""
    scope: str = key("LAYER", choice("LAYER", "MODEL"))
    """LAYER: `sparsity` in each layer. MODEL: in all of them together, compared after scaling to each layer's norm."""
    skip_node: tuple[str, ...] = key((), names)
    report: Path | None = key(None, folder)
    """The CSV file to write: what was removed from each layer, and what it costs."""


@dataclass(frozen=True)
class QuantizerSettings:
    """All sections; see each."""

    common: CommonQuantParam = field(default_factory=CommonQuantParam)
    weight: WeightQuantParam = field(default_factory=WeightQuantParam)
    mixed: MixedBitWeightQuantParam = field(default_factory=MixedBitWeightQuantParam)
    full: FullQuantParam = field(default_factory=FullQuantParam)
    dynamic: DynamicQuantParam = field(default_factory=DynamicQuantParam)
    transform: TransformQuantParam = field(default_factory=TransformQuantParam)
    data: DataPreprocessParam = field(default_factory=DataPreprocessParam)
    accuracy: AccuracyParam = field(default_factory=AccuracyParam)
    integer_outputs: bool = False
    """Whether the model's outputs will be stored integers; told by the conversion, no key."""
    methods: MethodsParam = field(default_factory=MethodsParam)
    prune: PruneParam = field(default_factory=PruneParam)

    @property
    def method(self) -> Method | None:
        return self.common.quant_type

    @property
    def asks_for_something(self) -> bool:
        """True when the quantizer has anything to do."""
        return self.method is not None or bool(self.prune.method) or self.transform.export_precision_mode != "QUANT"


SECTIONS: dict[str, tuple[str, type[Any]]] = {
    "common_quant_param": ("common", CommonQuantParam),
    "weight_quant_param": ("weight", WeightQuantParam),
    "mixed_bit_weight_quant_param": ("mixed", MixedBitWeightQuantParam),
    "full_quant_param": ("full", FullQuantParam),
    "dynamic_quant_param": ("dynamic", DynamicQuantParam),
    "transform_quant_param": ("transform", TransformQuantParam),
    "data_preprocess_param": ("data", DataPreprocessParam),
    "accuracy_param": ("accuracy", AccuracyParam),
    "mslite_quant_param": ("methods", MethodsParam),
    "mslite_prune_param": ("prune", PruneParam),
}
"""Section name → field of QuantizerSettings and its class."""

_NOTHING = """\
[{section}] has no effect: nothing says what to quantise. Write quant_type=WEIGHT_QUANT, FULL_QUANT or DYNAMIC_QUANT in \
[common_quant_param] (or `quant_type=` for none), or leave the section out"""

_T = TypeVar("_T")


def section_of(name: str) -> str | None:
    """The only section of the quantizer that has a key of that name."""
    found = [
        section for section, (_, kind) in SECTIONS.items() if name in {one.name for one in dataclasses.fields(kind)}
    ]
    return found[0] if len(found) == 1 else None


def read_section(kind: type[_T], section: str, keys: Mapping[str, str]) -> _T:
    """The typed form of one section. Raises UsageError for an unknown key or a wrong value."""
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
    """The settings that the sections of a configuration ask for. Raises UsageError, also for sections that ask for nothing."""
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
    if not asked:  # what concerns quantisation alone is as if it were not there
        typed = {
            name: one for name, one in typed.items() if name in ("transform", "prune") or (prunes and name == "data")
        }
    settings = QuantizerSettings(**typed)
    if asked or prunes:
        _check(settings)
    return settings


def _check(settings: QuantizerSettings) -> None:
    """What several keys must agree on. Raises UsageError."""
    common, data = settings.common, settings.data
    if common.bit_num == 0 and settings.method is not Method.WEIGHT_QUANT:
        raise UsageError("INPUT ILLEGAL: bit_num=0 (mixed bits) in [common_quant_param] is for WEIGHT_QUANT only")
    if settings.method is Method.DYNAMIC_QUANT and common.bit_num != 8:
        raise UsageError("INPUT ILLEGAL: bit_num in [common_quant_param] must be 8 for DYNAMIC_QUANT")
    if settings.method is Method.WEIGHT_QUANT and not common.enable_encode and common.bit_num not in (8, 16):
        raise UsageError("INPUT ILLEGAL: enable_encode in [common_quant_param] must be true unless bit_num is 8 or 16")
    if settings.prune.method == "MAGNITUDE" and settings.weight.quant_strategy == "GPTQ":
        raise UsageError(
            "INPUT ILLEGAL: method=MAGNITUDE in [mslite_prune_param] does not go with quant_strategy=GPTQ in"
            " [weight_quant_param], which moves weights away from zero; AWQ and MAX_MIN keep zeros"
        )
    resize = (data.resize_width, data.resize_height, data.resize_method)
    if any(resize) and not all(resize):
        raise UsageError(
            "INPUT ILLEGAL: resize_width, resize_height and resize_method in [data_preprocess_param] go together"
        )
    if bool(data.center_crop_width) != bool(data.center_crop_height):
        raise UsageError(
            "INPUT ILLEGAL: center_crop_width and center_crop_height in [data_preprocess_param] go together"
        )
    if bool(data.normalize_mean) != bool(data.normalize_std):
        raise UsageError("INPUT ILLEGAL: normalize_mean and normalize_std in [data_preprocess_param] go together")
    if len(data.normalize_mean) != len(data.normalize_std):
        raise UsageError("INPUT ILLEGAL: normalize_mean and normalize_std in [data_preprocess_param] differ in length")
    if 0 in data.normalize_std:
        raise UsageError("INPUT ILLEGAL: normalize_std in [data_preprocess_param] must not be 0")
    if data.calibrate_path and (not data.calibrate_size or data.input_type is None):
        raise UsageError("INPUT ILLEGAL: calibrate_path in [data_preprocess_param] needs calibrate_size and input_type")
