"""The quantization sections of `--configFile`, typed: one dataclass per section, one field per key.

Names, values and defaults are those of MindSpore Lite's converter, except the default of `activation_quant_method`.
Keys that MindSpore Lite does not have are marked "mslite only".
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
    """Values of `quant_type`."""

    WEIGHT_QUANT = "WEIGHT_QUANT"
    FULL_QUANT = "FULL_QUANT"
    DYNAMIC_QUANT = "DYNAMIC_QUANT"


class ActivationMethod(Enum):
    """Methods that compute the range of an activation from calibration data. The last four are mslite only."""

    MAX_MIN = "MAX_MIN"
    KL = "KL"
    REMOVAL_OUTLIER = "REMOVAL_OUTLIER"
    MSE = "MSE"
    PERCENTILE = "PERCENTILE"
    ENTROPY = "ENTROPY"
    AUTO = "AUTO"
    """Tries several methods and uses the most accurate on the calibration data (accuracy/auto_range.py)."""


class TargetDevice(Enum):
    """Values of `target_device`: hardware whose rules the quantization follows. CPU is an empty value."""

    CPU = ""
    KIRIN = "KIRIN"
    NVGPU = "NVGPU"
    DSP = "DSP"
    ASCEND = "ASCEND"


class InputType(Enum):
    """Format of the calibration files. NPY (also `.npz`) is mslite only."""

    IMAGE = "IMAGE"
    BIN = "BIN"
    NPY = "NPY"


_BYTE = 8
"""Activations are int8 up to this `bit_num`, else int16."""


@dataclass(frozen=True)
class CommonQuantParam:
    """[common_quant_param]. With an empty `quant_type` nothing is quantized, even if other sections are present."""

    quant_type: Method | None = key(None, member(Method))
    bit_num: int = key(8, integer(0, 16))
    """Bits of a weight. WEIGHT_QUANT: 0 selects mixed bits. FULL_QUANT: 9 to 16 makes activations int16."""
    min_quant_weight_size: int = key(0, integer(0, 65535))
    """Only weights with more elements are quantized."""
    min_quant_weight_channel: int = key(16, integer(0, 65535))
    """Only convolutions with more output channels are quantized."""
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
    """mslite only. `huffman` stores int8 weights in Huffman code, which MindSpore Lite reads but never writes."""


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
    """None: the default of `QuantizerSettings.range_method`."""
    bias_correction: bool = key(True, boolean)
    per_channel: bool = key(True, boolean)
    target_device: TargetDevice = key(TargetDevice.CPU, member(TargetDevice))
    smooth_alpha: float = key(0.5, real(0, 1, "a number in (0, 1)"))
    enable_smooth_shift: bool = key(False, boolean)
    percentile: float = key(99.999, real(50, 100, "a number in (50, 100)"))
    """mslite only. Percentage of values inside the range of PERCENTILE."""
    method: str = key("", choice("", "QAT"))
    """mslite only. QAT trains the quantized model on the calibration data to reproduce the float model (tuning/)."""
    qat_steps: int = key(1000, integer(1, 1000000))
    """mslite only. Number of training steps, with one sample each."""
    qat_learning_rate: float = key(0.003, real(0, 10, "a number in (0, 10)"))
    """mslite only. Largest change of a trainable value in one step of Adam, in the units of tuning/student.py."""


@dataclass(frozen=True)
class DynamicQuantParam:
    """[dynamic_quant_param]. ALWC: activations per layer, weights per channel. ACWL: activations per channel, weights
    per layer."""

    quant_strategy: str = key("ALWC", choice("ALWC", "ACWL"))


@dataclass(frozen=True)
class TransformQuantParam:
    """[transform_quant_param]: whether a source model that is already quantized stays quantized (QUANT) or not
    (FLOAT32)."""

    export_precision_mode: str = key("QUANT", choice("QUANT", "FLOAT32"))


@dataclass(frozen=True)
class DataPreprocessParam:
    """[data_preprocess_param]: calibration files and their preprocessing."""

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
    """[accuracy_param], mslite only: the accuracy budget of FULL_QUANT, its search, and the report."""

    budget: Budget | None = key(None, parse_budget)
    """For example cosine:0.99, sqnr:25, top1:0.5 or package.module:function:VALUE."""
    report: Path | None = key(None, folder)
    """The HTML page to write."""
    workspace: Path | None = key(None, folder)
    """Folder for the results of an interrupted search, so that it can continue; by default that of the output."""
    processes: int = key(0, integer(0, 1024))
    """Number of processes for the search; 0 is one per usable core."""
    cluster: str = key("", str)
    """The address of a Dask scheduler, for example tcp://host:8786."""


@dataclass(frozen=True)
class MethodsParam:
    """[mslite_quant_param], mslite only: methods for higher accuracy. They can be combined."""

    equalize: bool = key(False, boolean)
    """FULL_QUANT: cross-layer equalization of weight channels (transforms/equalize.py)."""
    smooth: bool = key(False, boolean)
    """FULL_QUANT: SmoothQuant moves outliers of activations into weights (transforms/smooth.py), with `smooth_alpha` of
    [full_quant_param]."""
    learned_rounding: bool = key(False, boolean)
    """FULL_QUANT: learns on the calibration data whether each weight is rounded up or down (weights/rounding.py)."""
    rounding_iterations: int = key(300, integer(1, 100000))
    group_size: int = key(0, integer(0, 65536))
    """WEIGHT_QUANT: number of neighboring weights of a channel that share a scale; 0: one scale per channel."""
    small_channels: str = key("CHANNEL", choice("CHANNEL", "TENSOR"))
    """WEIGHT_QUANT: scales of weights with small channels, mainly depthwise convolutions. CHANNEL: one scale per
    channel, which takes 32 to 40 bytes. TENSOR: one scale for all channels of at most 256 / (32 - bits) elements, if
    `bias_correction` is set; this is MindSpore Lite's rule, and less accurate."""
    keep_integers: bool = key(False, boolean)
    """WEIGHT_QUANT: matrices of 8 bits or fewer stay integers in memory; matmuls dequantize them as they read them."""


@dataclass(frozen=True)
class PruneParam:
    """[mslite_prune_param], mslite only: removes the least important weights or channels before quantization."""

    method: str = key("", choice("", "MAGNITUDE", "STRUCTURED"))
    sparsity: float = key(0.5, real(0, 1, "a number in (0, 1)"))
    """The share of each weight's elements, or of each layer's channels, that is removed."""
    scope: str = key("LAYER", choice("LAYER", "MODEL"))
    """LAYER: `sparsity` applies to each layer. MODEL: to the model; weights are compared relative to their layer's
    norm."""
    skip_node: tuple[str, ...] = key((), names)
    report: Path | None = key(None, folder)
    """The CSV file to write: for each layer, what was removed and the loss of accuracy."""


@dataclass(frozen=True)
class QuantizerSettings:
    """All sections of the quantizer."""

    common: CommonQuantParam = field(default_factory=CommonQuantParam)
    weight: WeightQuantParam = field(default_factory=WeightQuantParam)
    mixed: MixedBitWeightQuantParam = field(default_factory=MixedBitWeightQuantParam)
    full: FullQuantParam = field(default_factory=FullQuantParam)
    dynamic: DynamicQuantParam = field(default_factory=DynamicQuantParam)
    transform: TransformQuantParam = field(default_factory=TransformQuantParam)
    data: DataPreprocessParam = field(default_factory=DataPreprocessParam)
    accuracy: AccuracyParam = field(default_factory=AccuracyParam)
    integer_outputs: bool = False
    """Whether the model's outputs will be integers. Set by the converter, not by a key."""
    methods: MethodsParam = field(default_factory=MethodsParam)
    prune: PruneParam = field(default_factory=PruneParam)

    @property
    def method(self) -> Method | None:
        return self.common.quant_type

    @property
    def range_method(self) -> ActivationMethod:
        """The method that computes ranges of activations.

        The default for int8 is PERCENTILE: clipping a few outliers gives finer steps for all other values. int16 has
        enough steps, so its default is MAX_MIN.
        """
        if self.full.activation_quant_method is not None:
            return self.full.activation_quant_method
        return ActivationMethod.PERCENTILE if self.common.bit_num <= _BYTE else ActivationMethod.MAX_MIN

    @property
    def needs_quantizer(self) -> bool:
        """Whether the settings enable quantization, pruning or dequantization."""
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
