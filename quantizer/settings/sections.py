"""The quantization sections of `--configFile`, typed: one dataclass per section, one field per key.

Names, values and defaults are those of MindSpore Lite's converter, but for the default of `activation_quant_method`; keys that
only this quantizer has say so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from mslite.quantizer.metrics import Budget, parse_budget
from mslite.quantizer.settings.keys import (
    SIZE,
    boolean,
    choice,
    folder,
    folders,
    integer,
    key,
    member,
    names,
    real,
    reals,
)


class Method(Enum):
    """What is quantized, and when."""

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
    """The one of several that serves the model best on its calibration data (accuracy/range_choice.py)."""


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


_BYTE = 8
"""Bits of weights up to which activations are int8."""


@dataclass(frozen=True)
class CommonQuantParam:
    """[common_quant_param]; with an empty `quant_type` nothing is quantized, whatever the other sections say."""

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

    activation_quant_method: ActivationMethod | None = key(
        None, member(ActivationMethod, {"RemovalOutlier": "REMOVAL_OUTLIER"})
    )
    """None: what `QuantizerSettings.range_method` says."""
    bias_correction: bool = key(True, boolean)
    per_channel: bool = key(True, boolean)
    target_device: TargetDevice = key(TargetDevice.CPU, member(TargetDevice))
    smooth_alpha: float = key(0.5, real(0, 1, "a number in (0, 1)"))
    enable_smooth_shift: bool = key(False, boolean)
    percentile: float = key(99.999, real(50, 100, "a number in (50, 100)"))
    """Ours: the share of values that PERCENTILE keeps, in percent."""
    method: str = key("", choice("", "QAT"))
    """Ours: QAT lets the float model teach its quantized form on the calibration data (tuning/)."""
    qat_steps: int = key(1000, integer(1, 1000000))
    """Ours: so many times a sample is shown to the quantized form."""
    qat_learning_rate: float = key(0.003, real(0, 10, "a number in (0, 10)"))
    """Ours: how far Adam moves what is trained in a step at most, in the units of tuning/student.py."""


@dataclass(frozen=True)
class DynamicQuantParam:
    """[dynamic_quant_param]; ALWC: activations per layer, weights per channel; ACWL: the other way round."""

    quant_strategy: str = key("ALWC", choice("ALWC", "ACWL"))


@dataclass(frozen=True)
class TransformQuantParam:
    """[transform_quant_param]: whether the quantization of an already quantized source stays."""

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

    equalize: bool = key(False, boolean)
    """FULL_QUANT: scales move between neighboring products (transforms/equalize.py)."""
    smooth: bool = key(False, boolean)
    """FULL_QUANT: outliers of activations move into weights (transforms/smooth.py); `smooth_alpha` of [full_quant_param]."""
    learned_rounding: bool = key(False, boolean)
    """FULL_QUANT: whether a weight is rounded up or down is learned on the calibration data (weights/rounding.py)."""
    rounding_iterations: int = key(300, integer(1, 100000))
    group_size: int = key(0, integer(0, 65536))
    """WEIGHT_QUANT: so many neighboring weights of a channel share a scale; 0: all of a channel."""
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
    def range_method(self) -> ActivationMethod:
        """How ranges of activations are found. Left out, a few values beyond the range are worth finer steps for all
        others where there are 256 steps, and not where there are 65,536."""
        if self.full.activation_quant_method is not None:
            return self.full.activation_quant_method
        return ActivationMethod.PERCENTILE if self.common.bit_num <= _BYTE else ActivationMethod.MAX_MIN

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
