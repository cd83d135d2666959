"""Subgraphs on 8-bit integers, compiled for an Arm Ethos-U NPU by Arm's own compiler, vela (docs/ethosu.md).

`parts` finds them, `tflite_writer` writes them, `vela` compiles, `placement` puts what comes out into the graph, `node` says
what the Custom node holds.
"""

from mslite.converter.ethosu.facts import PartFacts, Placement
from mslite.converter.ethosu.settings import NpuSettings, npu_settings

__all__ = ["NpuSettings", "PartFacts", "Placement", "npu_settings"]
