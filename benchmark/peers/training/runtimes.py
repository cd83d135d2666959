"""One adapter per way of training: make the network, train it by one step. Nothing is imported before it is asked for, so that a
process holds one of them alone."""

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
    """A network with its optimizer and one batch of data, on which every step trains.

    A request has the `network`, its `path` (what `networks` wrote, PATH.ms, and PATH_half.ms), `threads`, and `work`, a folder."""

    library: str
    """What is imported before memory is measured."""

    @classmethod  # noqa: B027 (not every library has such parts)
    def settle(cls) -> None:
        """Loads those parts of the library, too, that it loads when they are needed first."""

    @abstractmethod
    def __init__(self, request: dict[str, Any], data: Data) -> None: ...

    @abstractmethod
    def run(self) -> list[float]:
        """One step; its loss."""

    @classmethod
    def version(cls) -> str:
        return version(cls.library)


class Mslite(Trainer):
    library = "mslite"
    keeps_gradients = True
    """Until the next step, for `get_gradients`."""
    suffix = ".ms"
    """Of the model."""

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
        if x.ndim == 4:  # images, which mslite takes channels last
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
    """The same steps; each gradient gives up its memory when its weight has been updated."""

    keeps_gradients = False


class MsliteInHalf(MsliteWithoutGradients):
    """The same steps; some values are computed again, so that all fits into half of what PyTorch takes."""

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
    """Needs a C++ compiler. What it has compiled, another process takes from the folder `work`."""

    def __init__(self, request: dict[str, Any], data: Data) -> None:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(Path(request["work"]) / "inductor")
        super().__init__(request, data)
        import torch

        self.module = torch.compile(self.module)


IN_HALF = "mslite, half of PyTorch's memory"
"""Is converted when it is known how much that is."""
TRAINERS: dict[str, type[Trainer]] = {
    "mslite": Mslite,
    "mslite, gradients given up": MsliteWithoutGradients,
    "PyTorch": Eager,
    "torch.compile": Compiled,
    IN_HALF: MsliteInHalf,
}
OURS = tuple(name for name, kind in TRAINERS.items() if issubclass(kind, Mslite))
