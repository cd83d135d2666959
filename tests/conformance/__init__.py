"""What MindSpore Lite's readers demand of a file, as a table, and a checker that holds files against it.

The table (`rules/*.yaml`, `kernel_types.yaml`) states facts about the runtimes of versions 1.3, 1.5, 2.0 and 2.7. They were gathered
from their public sources, operator by operator: what the file is refused for at load, which fields the readers of each operator
take (`populate`), which shapes, types and layouts the inference of shapes refuses (`infer`), and what the kernels ask of their
operands when they are built and run (`kernel`). Every rule says where it was read, and what becomes of a file that breaks it.
Where reading left doubts, and for most operators besides, small files of one node were run in 1.3 and 1.5 as built from those
sources and their numbers compared; such rules say `run`. No code or prose of the originals is in here.

2.0 has the rules of all versions, and the kernels of 2.7 but for those that its runtime, the wheel mindspore-lite 2.0.0, was seen not
to have; what only its loader asks of a file is not in here.

What the table does not have: kernels of half precision, training operators, operators of other devices, string operators beyond
their operands. Of 2.7 the fields and kernels were read, and the inference of shapes of convolutions, pools, products, resampling,
slices, padding and normalization; for other operators the numbers of operands are those of 1.5.

`checker.py` is the entrance; `hook.py` has every file that a test writes checked.
"""
