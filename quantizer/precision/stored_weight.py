"""A quantized weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Array
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantized import dequantized_array


@dataclass(frozen=True)
class StoredWeight:
    """Integers and quantization parameters of a weight. Several parameters belong to the indices of dimension
    `axis`."""

    data: Array
    records: tuple[QuantParam, ...]
    axis: int

    def real(self) -> npt.NDArray[np.float32]:
        """Dequantizes like the runtime: varCorr and meanCorr apply only if there are several parameters."""
        if self.data.ndim and len(self.records) > self.data.shape[self.axis]:  # per block of each channel
            runs = self.data.reshape(len(self.records), -1)
            return StoredWeight(runs, self.records, 0).real().reshape(self.data.shape)
        plain = dequantized_array(self.data, self.records, self.axis)
        if len(self.records) < 2 or all(item.varCorr == 1 and item.meanCorr == 0 for item in self.records):
            return plain
        shape = [-1 if index == self.axis else 1 for index in range(self.data.ndim)]
        factors = np.array([item.varCorr for item in self.records]).reshape(shape)
        offsets = np.array([item.meanCorr for item in self.records]).reshape(shape)
        return np.asarray(plain * factors + offsets).astype(np.float32)
