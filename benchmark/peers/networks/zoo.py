"""The list of networks in the benchmark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from .definitions import timm, torchvision
from .modules import Denoiser, Encoder, Segmentation

_SEED = 7
Inputs = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Network:
    """A network of the benchmark. `name` is the name of its files; `draw(seed)` returns random inputs in the order of `forward`."""

    name: str
    make: Callable[[], nn.Module]
    draw: Callable[[int], Inputs]

    def module(self) -> nn.Module:
        """Returns the network in eval mode, with the same random weights each time."""
        torch.manual_seed(_SEED)
        module = self.make()
        for part in module.modules():
            if isinstance(part, nn.BatchNorm2d):  # the default values 0 and 1 would be optimized away
                part.running_mean.normal_(0, 0.05)
                part.running_var.uniform_(0.8, 1.2)
                part.weight.data.uniform_(0.8, 1.2)
                part.bias.data.normal_(0, 0.05)
        return module.eval()


def _generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _image(name: str, size: int, make: Callable[[], nn.Module]) -> Network:
    def draw(seed: int) -> Inputs:
        return {"image": torch.randn(1, 3, size, size, generator=_generator(seed))}

    return Network(f"{name}_{size}", make, draw)


def _torchvision(name: str, size: int = 224) -> Network:
    return _image(name, size, lambda: torchvision.models.get_model(name, weights=None))


def _timm(name: str, model: str = "", size: int = 224) -> Network:
    return _image(name, size, lambda: timm.create_model(model or name, pretrained=False))


def _text(name: str, make: Callable[[], nn.Module]) -> Network:
    def draw(seed: int) -> Inputs:
        ids = torch.randint(0, 30000, (1, 128), generator=_generator(seed))
        return {"ids": ids, "mask": torch.ones(1, 128, dtype=torch.int64)}

    return Network(name, make, draw)


def _segmentation() -> nn.Module:
    make = torchvision.models.segmentation.lraspp_mobilenet_v3_large
    return Segmentation(make(weights=None, weights_backbone=None))


NETWORKS = (
    _timm("mobilenet_v1", "mobilenetv1_100"),
    _torchvision("mobilenet_v2"),
    _torchvision("mobilenet_v3_large"),
    _torchvision("mnasnet1_0"),
    _torchvision("efficientnet_b0"),
    _torchvision("shufflenet_v2_x1_0"),
    _torchvision("squeezenet1_1"),
    _torchvision("resnet18"),
    _torchvision("resnet50"),
    _torchvision("densenet121"),
    _timm("vit_tiny_patch16", "vit_tiny_patch16_224"),
    _text("bert_mini_128", lambda: Encoder(256, layers=4, heads=4)),
    # Newer architectures; no kernel was tuned for them.
    _timm("mobilenetv4_conv_small"),
    _timm("convnext_atto"),
    _timm("efficientformer_l1"),
    _image("lraspp_mobilenet_v3_large", 320, _segmentation),
    _text("minilm_l6_128", lambda: Encoder(384, layers=6, heads=12)),
    Network(
        "gru_denoiser_100",
        Denoiser,
        lambda seed: {"frames": torch.randn(1, 100, 257, generator=_generator(seed))},
    ),
)


def chosen(names: str) -> list[Network]:
    """Returns the networks in `names`, a comma-separated list; all if it is empty. A name may omit the input size.

    Raises:
        ValueError: a name is not that of a network.
    """
    wanted = [name for name in names.split(",") if name]
    by_name = {name: network for network in NETWORKS for name in (network.name, network.name.rpartition("_")[0])}
    if unknown := [name for name in wanted if name not in by_name]:
        known = ", ".join(network.name for network in NETWORKS)
        raise ValueError(f"unknown network: {', '.join(unknown)}. Known networks: {known}")
    picked = {by_name[name].name for name in wanted}
    return [network for network in NETWORKS if not picked or network.name in picked]
