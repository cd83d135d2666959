"""Checks files against the requirements of MindSpore Lite's readers, which are stored in a table.

The table (`rules/*.yaml`, `kernel_types.yaml`) states facts about the runtimes of versions 1.3, 1.5, 2.0 and 2.7, gathered from their
public sources operator by operator: which files are rejected at load, which fields the readers of each operator need (`populate`), which
shapes, types and layouts shape inference rejects (`infer`), and which operands the kernels require (`kernel`). Every rule has its source
and the effect of breaking it. For doubtful cases and most operators, small files of one node were run in 1.3 and 1.5, built from those
sources, and the results compared; such rules have `run`. The table contains no code or text of the originals.

2.0 has the rules of all versions, and the kernels of 2.7 except those that its runtime, the wheel mindspore-lite 2.0.0, was observed not
to have. Requirements of the loader of 2.0 alone are not included.

Not included: float16 kernels, training operators, operators of other devices, and string operators except for their operands. For 2.7,
fields, kernels and the shape inference of convolutions, poolings, matmuls, resizing, slices, padding and normalization were read; for
other operators the numbers of operands are those of 1.5.

`checker.py` is the entry point; `hook.py` checks every file that a test writes.
"""
