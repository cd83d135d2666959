"""The options of a conversion, from the command line, the configuration file or the Python API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from mslite.converter.compatibility import Version
from mslite.converter.encryption import Encryption
from mslite.converter.ethosu import NpuSettings
from mslite.converter.frameworks import FmkType as FmkType
from mslite.converter.mindir.graph import Shape
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.training.settings import TrainSettings
from mslite.quantizer.calibration.sources import Source
from mslite.quantizer.settings import QuantizerSettings


class SaveType(IntEnum):
    """Formats of the result; the values are those of MindSpore Lite's ModelType."""

    MINDIR = 0
    MINDIR_LITE = 4


@dataclass(frozen=True)
class Options:
    """The options of one conversion. Reads `model_file`, writes `output_file` (with its suffix added)."""

    model_file: Path
    output_file: Path
    framework: FmkType | None = None
    """None: detected from the file."""
    format_name: str = ""
    """The format's name in a registered model parser, with the framework THIRDPARTY; "": found by the file's suffix."""
    signature: str = ""
    """The signature of a TensorFlow Lite file or a SavedModel to convert (`--signature`)."""
    weight_file: Path | None = None
    """The weights of a Caffe model, or of a model that a registered model parser reads."""
    save_type: SaveType = SaveType.MINDIR_LITE
    input_shapes: Mapping[str, Shape] = field(default_factory=dict)
    dynamic_dims: Mapping[str, Shape] = field(default_factory=dict)
    """The largest shapes of inputs with unknown sizes, in the source's layout; -1 keeps the model's dimension."""
    input_format: Format | None = None
    """The layout of 4-D inputs of the result; None: NHWC. Inputs that MindSpore Lite regards as NHWC already are not
    changed."""
    output_format: Format | None = None
    input_type: DataType | None = None
    output_type: DataType | None = None
    float16_weights: bool = False
    fusion: bool = True
    disabled_fusions: frozenset[str] = frozenset()
    int64_to_int32: bool = False
    target: Version | None = None
    """The version of MindSpore Lite that has to run the result (`--targetVersion`)."""
    npu: NpuSettings | None = None
    """The NPU that runs the operators it supports (`--target`)."""
    float32_scales: bool = False
    """Whether scales are rounded to float32, as for an NPU: the CPU then computes the same results as the NPU."""
    memory_limit: int | None = None
    """Bytes that the conversion may use (`--memoryLimit`); None: half of the machine's memory."""
    run_after_conversion: bool = False
    """Whether the result is loaded and run once with random data (`--infer`)."""
    digest: bool = False
    """Whether the SHA-256 is appended to the `.ms` file (`--digest`)."""
    compare: bool = True
    """Whether the result of a `torch.export` program is compared with the program before it is written (not with
    `--verify=off`)."""
    encryption: Encryption = field(default_factory=Encryption)
    plugins: tuple[Path, ...] = ()
    """Python files that register parsers, passes and custom operators for this conversion."""
    config: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The sections of the configuration file, for plug-ins."""
    quantizer: QuantizerSettings = field(default_factory=QuantizerSettings)
    training: TrainSettings | None = None
    """If it is given, the result is a training model (`--trainModel`)."""
    calibration: Source | None = None
    """Calibration samples from Python, instead of the folders in the settings."""

    @property
    def source_files(self) -> list[Path]:
        """The files that are read: the model, and its weights if they are in a second file."""
        return [self.model_file] if self.weight_file is None else [self.model_file, self.weight_file]

    @property
    def output_path(self) -> Path:
        """The path of the result, with the suffix."""
        text = str(self.output_file)
        suffix = ".mindir" if self.save_type is SaveType.MINDIR else ".ms"
        return Path(text if text.endswith(suffix) else text + suffix)
