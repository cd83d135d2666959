"""Compiles int8 subgraphs for an Arm Ethos-U NPU with vela, Arm's compiler (docs/ethosu.md).

`parts` finds the subgraphs, `tflite_writer` writes them as files, `vela` compiles these, `placement` replaces the
subgraphs by Custom nodes, and `node` reads and writes the Custom nodes.
"""

from mslite.converter.ethosu.report import PartitionFacts, Placement
from mslite.converter.ethosu.settings import NpuSettings, npu_settings

__all__ = ["NpuSettings", "PartitionFacts", "Placement", "npu_settings"]
