"""Real networks trained here and in PyTorch, from the same weights, on the same batches, by the same optimizer.

    make compare-training        # docs/developers/training_accuracy.md and its picture; half an hour

`images.py`, `pixels.py` and `sequences.py` define the networks as PyTorch modules, `tasks.py` the data, `cases.py` what each
network is trained with; `compare.py` trains one in both, `page.py` and `picture.py` write what came out.
"""
