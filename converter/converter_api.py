"""`mslite.Converter`: the converter's Python API, with the attributes and methods of `mindspore_lite.Converter`."""

from __future__ import annotations

import os
import re
import warnings
from enum import Enum
from pathlib import Path
from typing import NoReturn, cast

from mslite.converter.config_file import choices_of, read_config
from mslite.converter.convert import Report, convert
from mslite.converter.errors import ConversionError, UsageError
from mslite.converter.flag_values import check_encrypted, check_npu, encryption_of_flags, npu_of_flags
from mslite.converter.memory_limit import MIN_LIMIT
from mslite.converter.mindir.graph import Shape
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.options import FmkType, Options, SaveType
from mslite.quantizer.calibration.sources import Source
from mslite.settings import StrictAttributes
from mslite.types import DataType as PublicDataType
from mslite.types import Format as PublicFormat
from mslite.types import ModelType

_DATA_TYPES = {"FLOAT32": DataType.FLOAT32, "INT8": DataType.INT8, "UINT8": DataType.UINT8, "UNKNOWN": None}
_OPTIMIZE = re.compile(r"none|general|gpu_oriented|ascend_oriented(:910b|:default)?")


def _check_type(name: str, value: object, kind: type | tuple[type, ...]) -> None:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        expected = " or ".join(item.__name__ for item in kinds)
        raise TypeError(f"{name} must be {expected}, but got {type(value).__name__}.")


def _path_text(name: str, value: object) -> str:
    """Returns the text of a path. Raises TypeError unless it is a str or an os.PathLike."""
    _check_type(name, value, (str, os.PathLike))
    return os.fsdecode(cast("str | os.PathLike[str]", value))


def _enum_name(name: str, value: object, allowed: tuple[str, ...]) -> str:
    """Returns the name of a member of any enum. Raises TypeError for other types, ValueError for a name that is not
    allowed."""
    if not isinstance(value, Enum):
        example = f", such as mslite.FmkType.{allowed[0]}" if name == "fmk_type" else ""
        raise TypeError(f"{name} must be an enum member{example}, but got {type(value).__name__}.")
    if value.name not in allowed:
        raise ValueError(f"{name} must be in [{', '.join(allowed)}], but got {value.name}.")
    return value.name


class Converter(StrictAttributes):
    """Converts models of other frameworks to `.ms` files.

    Attributes are set one by one, then `convert` is called. Wrong types raise TypeError, wrong values ValueError.
    """

    report: Report | None = None
    """The report of the last conversion."""

    def __init__(self) -> None:
        self._input_data_type = "FLOAT32"
        self._output_data_type = "FLOAT32"
        self._input_format: Format | None = None
        self._input_shape: dict[str, list[int]] = {}
        self._optimize = "general"
        self._weight_fp16 = False
        self._digest = False
        self._signature = ""
        self._memory_limit: int | None = None
        self._verify = True
        self._infer = False
        self._device = ""
        self._device_id = 0
        self._rank_id = 0
        self._decrypt_mode = "AES-GCM"
        self._decrypt_key = ""
        self._encrypt_key = ""
        self._encryption: bool | None = None
        self._save_type = ModelType.MINDIR_LITE
        self._config: dict[str, dict[str, str]] = {}
        self._calibration: Source | None = None

    @property
    def decrypt_key(self) -> NoReturn:
        """The key of an encrypted MINDIR or .ms source: 32, 48 or 64 hexadecimal digits. Write-only."""
        raise TypeError("decrypt_key is write-only.")

    @decrypt_key.setter
    def decrypt_key(self, value: str) -> None:
        _check_type("decrypt_key", value, str)
        self._decrypt_key = value

    @property
    def encrypt_key(self) -> NoReturn:
        """The key that the result is encrypted with (AES-GCM): 32 hexadecimal digits. Write-only."""
        raise TypeError("encrypt_key is write-only.")

    @encrypt_key.setter
    def encrypt_key(self, value: str) -> None:
        _check_type("encrypt_key", value, str)
        self._encrypt_key = value

    @property
    def decrypt_mode(self) -> str:
        return self._decrypt_mode

    @decrypt_mode.setter
    def decrypt_mode(self, value: str) -> None:
        _check_type("decrypt_mode", value, str)
        if value not in ("AES-GCM", "AES-CBC"):
            raise ValueError(f"decrypt_mode must be in [AES-GCM, AES-CBC], but got {value}.")
        self._decrypt_mode = value

    @property
    def device(self) -> str:
        return self._device

    @device.setter
    def device(self, value: str) -> None:
        _check_type("device", value, str)
        if value != "Ascend":
            raise ValueError(f"device must be in [Ascend], but got {value}.")
        self._device = value

    @property
    def device_id(self) -> int:
        return self._device_id

    @device_id.setter
    def device_id(self, value: int) -> None:
        _check_type("device_id", value, int)
        self._device_id = value

    @property
    def rank_id(self) -> int:
        return self._rank_id

    @rank_id.setter
    def rank_id(self, value: int) -> None:
        _check_type("rank_id", value, int)
        self._rank_id = value

    @property
    def enable_encryption(self) -> bool:
        """Whether the result is encrypted if an `encrypt_key` is set. Without a key it is never encrypted."""
        return self._encryption is not False

    @enable_encryption.setter
    def enable_encryption(self, value: bool) -> None:
        _check_type("enable_encryption", value, bool)
        self._encryption = value

    @property
    def infer(self) -> bool:
        return self._infer

    @infer.setter
    def infer(self, value: bool) -> None:
        _check_type("infer", value, bool)
        self._infer = value

    @property
    def input_data_type(self) -> PublicDataType:
        return PublicDataType[self._input_data_type]

    @input_data_type.setter
    def input_data_type(self, value: Enum) -> None:
        self._input_data_type = _enum_name("input_data_type", value, tuple(_DATA_TYPES))

    @property
    def output_data_type(self) -> PublicDataType:
        return PublicDataType[self._output_data_type]

    @output_data_type.setter
    def output_data_type(self, value: Enum) -> None:
        self._output_data_type = _enum_name("output_data_type", value, tuple(_DATA_TYPES))

    @property
    def input_format(self) -> PublicFormat:
        return PublicFormat[(Format.NHWC if self._input_format is None else self._input_format).name]

    @input_format.setter
    def input_format(self, value: Enum) -> None:
        self._input_format = Format[_enum_name("input_format", value, ("NCHW", "NHWC"))]

    @property
    def input_shape(self) -> dict[str, list[int]]:
        return dict(self._input_shape)

    @input_shape.setter
    def input_shape(self, value: dict[str, list[int]]) -> None:
        _check_type("input_shape", value, dict)
        for name, shape in value.items():
            _check_type("input_shape key", name, str)
            _check_type("input_shape value", shape, list)
            for size in shape:
                _check_type("input_shape dimension", size, int)
                if size < -1:
                    raise ValueError(
                        f"input_shape of {name}: dimensions must not be negative, or -1 for a dynamic one, but got "
                        f"{size}."
                    )
        self._input_shape = {name: list(shape) for name, shape in value.items()}

    @property
    def optimize(self) -> str:
        return self._optimize

    @optimize.setter
    def optimize(self, value: str) -> None:
        _check_type("optimize", value, str)
        if not _OPTIMIZE.fullmatch(value):
            raise ValueError(f"optimize must be none, general, gpu_oriented or ascend_oriented, but got {value}.")
        self._optimize = value

    @property
    def save_type(self) -> ModelType:
        return self._save_type

    @save_type.setter
    def save_type(self, value: Enum) -> None:
        self._save_type = ModelType[_enum_name("save_type", value, tuple(kind.name for kind in ModelType))]

    @property
    def weight_fp16(self) -> bool:
        return self._weight_fp16

    @weight_fp16.setter
    def weight_fp16(self, value: bool) -> None:
        _check_type("weight_fp16", value, bool)
        self._weight_fp16 = value

    @property
    def verify(self) -> bool:
        """Whether the result of a `torch.export` program is compared with the program; it is not written if they
        differ.

        MindSpore Lite does not have this attribute."""
        return self._verify

    @verify.setter
    def verify(self, value: bool) -> None:
        _check_type("verify", value, bool)
        self._verify = value

    @property
    def digest(self) -> bool:
        """Whether the SHA-256 is appended to the `.ms` file, for `mslite.verify_digest`.

        MindSpore Lite does not have this attribute."""
        return self._digest

    @digest.setter
    def digest(self, value: bool) -> None:
        _check_type("digest", value, bool)
        self._digest = value

    @property
    def signature(self) -> str:
        """The signature of a TensorFlow Lite file or a SavedModel to convert, with its names of inputs and outputs.

        Empty: the only graph, or `serving_default`. MindSpore Lite does not have this attribute."""
        return self._signature

    @signature.setter
    def signature(self, value: str) -> None:
        _check_type("signature", value, str)
        self._signature = value

    @property
    def memory_limit(self) -> int | None:
        """Bytes that a conversion may use; None: half of the machine's memory."""
        return self._memory_limit

    @memory_limit.setter
    def memory_limit(self, value: int | None) -> None:
        if value is not None:
            _check_type("memory_limit", value, int)
            if value < MIN_LIMIT:
                raise ValueError(f"memory_limit must be at least {MIN_LIMIT} bytes, but got {value}.")
        self._memory_limit = value

    def set_config_info(self, section: str = "", config_info: dict[str, str] | None = None) -> None:
        """Adds the keys of one section of the configuration; several calls accumulate."""
        _check_type("section", section, str)
        if config_info is None:
            return
        _check_type("config_info", config_info, dict)
        for key, value in config_info.items():
            _check_type("config_info key", key, str)
            _check_type("config_info value", value, str)
        self._config.setdefault(section, {}).update(config_info)

    def set_calibration_data(self, source: Source | None) -> None:
        """Sets the calibration samples for FULL_QUANT, instead of the files of [data_preprocess_param].

        `source` is a sequence of samples, or a function that returns an iterator over them; samples are read more than
        once. A sample is an array, a list of arrays in the order of the inputs, or a dict from input names to
        arrays."""
        self._calibration = source

    def get_config_info(self) -> dict[str, dict[str, str]]:
        return {section: dict(keys) for section, keys in self._config.items()}

    def convert(
        self,
        fmk_type: Enum,
        model_file: str | os.PathLike[str],
        output_file: str | os.PathLike[str],
        weight_file: str | os.PathLike[str] = "",
        config_file: str | os.PathLike[str] = "",
    ) -> None:
        """Converts `model_file` and writes `output_file` with `.ms` (or `.mindir`) added. Raises RuntimeError if it
        fails."""
        framework = FmkType[_enum_name("fmk_type", fmk_type, tuple(kind.name for kind in FmkType))]
        model, weight, config = (
            _path_text(name, path)
            for name, path in (("model_file", model_file), ("weight_file", weight_file), ("config_file", config_file))
        )
        for name, path in (("model_file", model), ("weight_file", weight), ("config_file", config)):
            if (path or name == "model_file") and not Path(path).is_file():
                raise RuntimeError(f"Perform convert failed, {name} does not exist: '{path}'")
        output = _path_text("output_file", output_file)
        try:
            options = self._options(framework, model, output, weight, config)
            self.report = convert(options)
            if self._infer:
                from mslite.converter.verify.report import infer_once

                infer_once(self.report.files[0], options.encryption)
        except (ConversionError, UsageError) as error:
            raise RuntimeError(f"Convert model failed! {error}") from None
        print("CONVERT RESULT SUCCESS:0")

    def _options(self, framework: FmkType, model: str, output: str, weight: str, config: str) -> Options:
        refused = {
            f"weight_file ({framework.name} models have none)": bool(weight)
            and framework not in (FmkType.CAFFE, FmkType.THIRDPARTY),
            "infer with save_type MINDIR": self._infer and self._save_type is ModelType.MINDIR,
            f"optimize {self._optimize}": self._optimize not in ("none", "general"),
            f"device {self._device}": bool(self._device),
        }
        for what, asked in refused.items():
            if asked:
                raise UsageError(f"{what} is not supported yet")
        sections = read_config(Path(config)) if config else {}
        for section, keys in self._config.items():
            sections.setdefault(section, {}).update(keys)
        notes: list[str] = []
        folder = Path(config).parent if config else None
        choices = choices_of(sections, notes.append, folder)
        if choices.quantizer.needs_quantizer and self._save_type is ModelType.MINDIR:
            raise UsageError("quantization with save_type MINDIR is not supported yet")
        shapes: dict[str, Shape] = {name: tuple(shape) for name, shape in self._input_shape.items()}
        options = Options(
            model_file=Path(model),
            output_file=Path(output),
            framework=framework,
            signature=self._signature,
            weight_file=Path(weight) if weight else None,
            save_type=SaveType[self._save_type.name],
            input_shapes=shapes,
            input_format=self._input_format,
            input_type=_DATA_TYPES[self._input_data_type],
            output_type=_DATA_TYPES[self._output_data_type],
            float16_weights=self._weight_fp16,
            fusion=self._optimize == "general" and choices.fusion,
            disabled_fusions=choices.disabled_fusions,
            dynamic_dims=choices.dynamic_dims,
            quantizer=choices.quantizer,
            calibration=self._calibration,
            plugins=choices.plugins,
            config=choices.sections,
            npu=npu_of_flags("", choices.sections, folder),
            memory_limit=self._memory_limit,
            run_after_conversion=self._infer,
            digest=self._digest,
            compare=self._verify,
            encryption=encryption_of_flags(self._encryption_flags(), lambda text: warnings.warn(text, stacklevel=4)),
        )
        if options.encryption.encrypt_key is not None:
            check_encrypted(options)
        if options.npu is not None:
            check_npu(options)
        return options

    def _encryption_flags(self) -> dict[str, str]:
        """Returns the attributes about encryption as flags of converter_lite."""
        flags = {"encryptKey": self._encrypt_key, "decryptKey": self._decrypt_key, "decryptMode": self._decrypt_mode}
        if self._encryption is not None:
            flags["encryption"] = "true" if self._encryption else "false"
        return {name: value for name, value in flags.items() if value}

    def __str__(self) -> str:
        return "\n".join(
            (
                f"config_info: {self._config}",
                f"weight_fp16: {self._weight_fp16}",
                f"input_shape: {self._input_shape}",
                f"input_format: {self.input_format.name}",
                f"input_data_type: {self._input_data_type}",
                f"output_data_type: {self._output_data_type}",
                f"save_type: {self._save_type.name}",
                f"enable_encryption: {self.enable_encryption}",
                f"infer: {self._infer}",
                f"optimize: {self._optimize}",
                f"device: {self._device}",
            )
        )

    def __repr__(self) -> str:
        """Returns the attributes that differ from the defaults, without keys."""
        usual = vars(Converter())
        changes = (
            f"{name.removeprefix('_')}={value!r}"
            for name, value in vars(self).items()
            if name.startswith("_") and not name.endswith("_key") and value is not usual[name] and value != usual[name]
        )
        return f"Converter({', '.join(changes)})"
