"""What a conversion is asked to do, as one value; the command line, the configuration file and the API fill it."""

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
    """Kinds of result; numbers are MindSpore Lite's ModelType."""

    MINDIR = 0
    MINDIR_LITE = 4


@dataclass(frozen=True)
class Options:
    """Everything about one conversion. `model_file` is read, `output_file` (with its suffix added) is written."""

    model_file: Path
    output_file: Path
    framework: FmkType | None = None
    """None: told from the file."""
    format_name: str = ""
    """What a registered model parser calls the format, with the framework THIRDPARTY; left out, the file's suffix tells."""
    signature: str = ""
    """Which signature of a TensorFlow Lite file or a SavedModel is converted (`--signature`)."""
    weight_file: Path | None = None
    """The weights of a Caffe model, or of one that a registered model parser reads."""
    save_type: SaveType = SaveType.MINDIR_LITE
    input_shapes: Mapping[str, Shape] = field(default_factory=dict)
    dynamic_dims: Mapping[str, Shape] = field(default_factory=dict)
    """The largest shapes of inputs with unknown sizes, in the source's layout; -1 where nothing is said."""
    input_format: Format | None = None
    """The layout of 4-D inputs of the result; None: NHWC, but for what MindSpore Lite takes to be NHWC already."""
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
    """The NPU that computes what it can of the result (`--target`)."""
    single_scales: bool = False
    """Whether scales are rounded to 32 bits, as they are for an NPU: the result then computes its numbers on the CPU."""
    memory_limit: int | None = None
    """Bytes that the conversion may take on account of what the file says (`--memoryLimit`); None: half of the machine's."""
    run_once: bool = False
    digest: bool = False
    """Whether the `.ms` file ends with the SHA-256 of what was written (`--digest`)."""
    """Load the result and run it once with random data (`--infer`)."""

    compare: bool = True
    """Whether the result of a `torch.export` program is compared with the program before it is written (`--verify=off`: not)."""
    encryption: Encryption = field(default_factory=Encryption)
    plugins: tuple[Path, ...] = ()
    """Python files that register parsers, passes and custom operators for this conversion."""
    config: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The sections of the configuration file, which plug-ins may ask for."""
    quantizer: QuantizerSettings = field(default_factory=QuantizerSettings)
    training: TrainSettings | None = None
    """Where it is given, the result is a training graph (`--trainModel`)."""
    calibration: Source | None = None
    """Calibration samples from Python, instead of the folders that the settings name."""

    @property
    def source_files(self) -> list[Path]:
        """The files that are read: the model, and its weights where they are apart."""
        return [self.model_file] if self.weight_file is None else [self.model_file, self.weight_file]

    @property
    def output_path(self) -> Path:
        """The file that is written."""
        text = str(self.output_file)
        suffix = ".mindir" if self.save_type is SaveType.MINDIR else ".ms"
        return Path(text if text.endswith(suffix) else text + suffix)
