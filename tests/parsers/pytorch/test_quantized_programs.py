"""Programs with the operators that convert_pt2e() writes: converted, and the results are the program's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mslite.converter.convert import convert
from mslite.converter.options import Options
from mslite.converter.verify.comparison import AGREES

from .test_dropped_arguments import arrays
from .test_pytorch import needs_torch


@needs_torch
@pytest.mark.filterwarnings("ignore")
def test_quantized_programs(tmp_path: Path) -> None:
    """Static scales, a range that is narrower than the type, and dynamic scales of each kind."""
    import torch
    import torch.ao.quantization.fx._decomposed

    own = torch.ops.quantized_decomposed
    x, real = arrays((4, 6), (5, 6))
    scales, zeros = real.abs().amax(1) / 127, torch.zeros(5, dtype=torch.int64)

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("weights", torch.round(real / scales[:, None]).to(torch.int8))

        def linear(self, x: Any) -> Any:
            weights = own.dequantize_per_channel(self.weights, scales, zeros, 0, -127, 127, torch.int8)
            return torch.nn.functional.linear(x, weights)

        def static(self, x: Any, low: int, high: int, dtype: Any) -> Any:
            scale, zero = 2.0 / 127, (low + high) // 2
            stored = own.quantize_per_tensor(x, scale, zero, low, high, dtype)
            return own.dequantize_per_tensor(stored, scale, zero, low, high, dtype)

        def dynamic(self, choose: Any, x: Any, low: int, high: int, dtype: Any) -> Any:
            scale, zero = choose(x, low, high, 1e-7, dtype)
            stored = own.quantize_per_tensor.tensor(x, scale, zero, low, high, dtype)
            return own.dequantize_per_tensor.tensor(stored, scale, zero, low, high, dtype)

        def forward(self, x: Any) -> Any:
            return (
                self.static(self.linear(self.static(x, -128, 127, torch.int8)), 0, 255, torch.uint8),
                self.linear(self.static(x * 3, 0, 127, torch.uint8)),
                self.linear(self.dynamic(own.choose_qparams, x, 0, 255, torch.uint8)),
                self.linear(self.dynamic(own.choose_qparams_symmetric, x, -127, 127, torch.int8)),
            )

    path = tmp_path / "net.pt2"
    sizes = ({0: torch.export.Dim("rows", max=9)},)
    torch.export.save(torch.export.export(Network(), (x,), dynamic_shapes=sizes), str(path))
    assert AGREES in convert(Options(path, tmp_path / "net")).notes
