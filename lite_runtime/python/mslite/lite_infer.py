"""Networks of MindSpore that run without being saved first."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from importlib import import_module
from pathlib import Path
from typing import Any

from mslite.context import Context
from mslite.model import Model
from mslite.settings import checked, sections
from mslite.types import ModelType


class LiteInfer(Model):
    """A model made of a network of MindSpore, which must be installed: it is exported, converted and built.

    `model_or_net` is a `mindspore.nn.Cell` or a `mindspore.train.Model`, `net_inputs` are what `mindspore.export` asks for:
    tensors of the shapes and types that the network is to take. Inputs and outputs have the network's layout. `config`
    holds sections of settings, and under "configPath" a file of them. `model_group_id` has no effect.

    Raises ImportError without MindSpore or the converter's packages, ValueError for another kind of network, TypeError
    for other wrong arguments, RuntimeError for a network that cannot be converted or built."""

    def __init__(
        self,
        model_or_net: Any,
        *net_inputs: Any,
        context: Context | None = None,
        model_group_id: int | None = None,
        config: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        if model_group_id is not None:
            checked("model_group_id", model_group_id, int)
        settings: dict[str, Any] = dict(checked("config", {} if config is None else config, dict))
        config_path = checked("configPath", settings.pop("configPath", ""), str)
        settings = sections("config", settings)
        try:
            mindspore = import_module("mindspore")
        except ImportError as error:
            raise ImportError("LiteInfer takes networks of MindSpore, which cannot be imported here") from error
        if isinstance(model_or_net, mindspore.train.Model):
            network = model_or_net.predict_network
        elif isinstance(model_or_net, mindspore.nn.Cell):
            network = model_or_net
        else:
            raise ValueError(
                f"model_or_net must be a mindspore.train.Model or mindspore.nn.Cell, not {type(model_or_net).__name__}"
            )
        folder = tempfile.mkdtemp(prefix="mslite-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)  # the model maps the file
        exported = Path(folder, "network.mindir")
        mindspore.export(network, *net_inputs, file_name=str(exported.with_suffix("")), file_format="MINDIR")
        converted = _convert(exported)
        self.build_from_file(str(converted), ModelType.MINDIR_LITE, context, config_path, settings)


def _convert(exported: Path) -> Path:
    """The `.ms` file beside a MINDIR file."""
    try:
        from mslite.converter.convert import convert
        from mslite.converter.errors import ConversionError, UsageError
        from mslite.converter.mindir.ops.enums import Format
        from mslite.converter.options import FmkType, Options
    except ModuleNotFoundError as error:
        from mslite.extras import remedy

        raise ImportError(f"mslite.LiteInfer: {remedy(error) or error}") from error
    options = Options(
        model_file=exported,
        output_file=exported.with_suffix(""),
        framework=FmkType.MINDIR,
        input_format=Format.NCHW,  # that of the network
    )
    try:
        return convert(options).files[0]
    except (ConversionError, UsageError) as error:
        raise RuntimeError(f"the network cannot be converted: {error}") from None


__all__ = ["LiteInfer"]
