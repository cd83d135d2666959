"""LiteInfer: runs networks of MindSpore without saving them first."""

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
    """A model that is built from a network of MindSpore. The network is exported, converted and built. MindSpore must be
    installed.

    `model_or_net` is a `mindspore.nn.Cell` or a `mindspore.train.Model`. `net_inputs` are the inputs of `mindspore.export`:
    tensors with the shapes and types of the network's inputs. Inputs and outputs have the layout of the network. `config`
    contains configuration sections, and with the key "configPath" the path of a configuration file. `model_group_id` has
    no effect.

    Raises ImportError without MindSpore or the packages of the converter, ValueError for another type of network,
    TypeError for other wrong arguments, RuntimeError for a network that cannot be converted or built."""

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
            raise ImportError("LiteInfer needs the package 'mindspore', which cannot be imported") from error
        if isinstance(model_or_net, mindspore.train.Model):
            network = model_or_net.predict_network
        elif isinstance(model_or_net, mindspore.nn.Cell):
            network = model_or_net
        else:
            raise ValueError(
                f"model_or_net must be a mindspore.train.Model or mindspore.nn.Cell, not {type(model_or_net).__name__}"
            )
        folder = tempfile.mkdtemp(prefix="mslite-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)  # the model maps the file until it is deleted
        exported = Path(folder, "network.mindir")
        mindspore.export(network, *net_inputs, file_name=str(exported.with_suffix("")), file_format="MINDIR")
        converted = _convert(exported)
        self.build_from_file(str(converted), ModelType.MINDIR_LITE, context, config_path, settings)


def _convert(exported: Path) -> Path:
    """Converts a MINDIR file to a `.ms` file in the same folder. Returns its path."""
    try:
        from mslite.converter.convert import convert
        from mslite.converter.errors import ConversionError, UsageError
        from mslite.converter.mindir.ops.enums import Format
        from mslite.converter.options import FmkType, Options
    except ModuleNotFoundError as error:
        from mslite.extras import install_hint

        raise ImportError(f"mslite.LiteInfer: {install_hint(error) or error}") from error
    options = Options(
        model_file=exported,
        output_file=exported.with_suffix(""),
        framework=FmkType.MINDIR,
        input_format=Format.NCHW,  # the layout of MindSpore's networks
    )
    try:
        return convert(options).files[0]
    except (ConversionError, UsageError) as error:
        raise RuntimeError(f"the network cannot be converted: {error}") from None


__all__ = ["LiteInfer"]
