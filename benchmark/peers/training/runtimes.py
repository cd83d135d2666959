"""Adapters that build a network and train it, one for each library or mode.

Libraries are imported when an adapter needs them, so that a process loads only one of them.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Data = tuple[npt.NDArray[Any], npt.NDArray[Any]]


class Trainer(ABC):
    """A network with its optimizer and one batch of data. Every step trains on the same batch.

    A request has `network` (the name), `path` (of the files that `measure.prepare` wrote, without suffix), `threads` and `work`
    (a folder).
    """

    library: str
    """Name of the module to import before memory is measured."""

    @classmethod  # noqa: B027 (not every library loads parts lazily)
    def settle(cls) -> None:
        """Loads the parts that the library otherwise loads at first use, so that they do not count as memory of the network."""

    @abstractmethod
    def __init__(self, request: dict[str, Any], data: Data) -> None: ...

    @abstractmethod
    def run(self) -> list[float]:
        """Runs one training step. Returns a list with its loss."""

    @classmethod
    def version(cls) -> str:
        return version(cls.library)


class Mslite(Trainer):
    library = "mslite"
    keeps_gradients = True
    """Whether gradients stay available for `get_gradients` until the next step."""
    suffix = ".ms"
    """Suffix of the model file."""

    def __init__(self, request: dict[str, Any], data: Data) -> None:
        import mslite

        context = mslite.Context()
        context.cpu.thread_num = request["threads"]
        self.model = mslite.Model()
        file = f"{request['path']}{self.suffix}"
        config = mslite.TrainCfg()
        config.keep_gradients = self.keeps_gradients
        self.model.build_from_file(file, mslite.ModelType.MINDIR, context, train_cfg=config)
        self.model.set_train_mode(True)
        x, labels = data
        if x.ndim == 4:  # images: the converted model has NHWC inputs
            x = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
        self.data = [x, labels]

    def run(self) -> list[float]:
        (loss,) = self.model.run_step(self.data)
        return [float(loss.get_data_to_numpy().item())]

    @classmethod
    def version(cls) -> str:
        import mslite

        return str(mslite.__version__)


class MsliteWithoutGradients(Mslite):
    """mslite without kept gradients: the memory of a gradient is reused after its weight is updated."""

    keeps_gradients = False


class MsliteInHalf(MsliteWithoutGradients):
    """mslite with checkpointing: some activations are computed again, to fit into half of PyTorch's memory."""

    suffix = "_half.ms"


class Eager(Trainer):
    library = "torch"

    @classmethod
    def settle(cls) -> None:
        import torch

        layer = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(layer.parameters(), 0.1)
        layer(torch.ones(1, 1)).sum().backward()
        optimizer.step()

    def __init__(self, request: dict[str, Any], data: Data) -> None:
        import torch

        from .networks import MOMENTUM, NETWORKS, RATE

        torch.set_num_threads(request["threads"])
        network = NETWORKS[request["network"]]
        self.module: Any = network.module()
        self.optimizer = torch.optim.SGD(
            [parameter for parameter in self.module.parameters() if parameter.requires_grad], RATE, MOMENTUM
        )
        self.loss = torch.nn.CrossEntropyLoss() if network.classes else torch.nn.MSELoss()
        self.x, labels = (torch.from_numpy(array) for array in data)
        self.labels = labels.long() if network.classes else labels

    def run(self) -> list[float]:
        self.optimizer.zero_grad()
        loss = self.loss(self.module(self.x), self.labels)
        loss.backward()
        self.optimizer.step()
        return [float(loss.detach())]


class Compiled(Eager):
    """torch.compile, which needs a C++ compiler. Compiled code is cached in the folder `work` for other processes."""

    def __init__(self, request: dict[str, Any], data: Data) -> None:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(Path(request["work"]) / "inductor")
        super().__init__(request, data)
        import torch

        self.module = torch.compile(self.module)


IN_HALF = "mslite, half of PyTorch's memory"
"""This model is converted after PyTorch's memory has been measured."""
TRAINERS: dict[str, type[Trainer]] = {
    "mslite": Mslite,
    "mslite, gradients not kept": MsliteWithoutGradients,
    "PyTorch": Eager,
    "torch.compile": Compiled,
    IN_HALF: MsliteInHalf,
}
OURS = tuple(name for name, kind in TRAINERS.items() if issubclass(kind, Mslite))
