"""Compares training of real networks in mslite and in PyTorch: the same initial weights, batches and optimizers.

    make compare-training        # docs/developers/training_accuracy.md and its picture; half an hour

`images.py`, `pixels.py` and `sequences.py` define the networks as PyTorch modules, `tasks.py` the data, `cases.py` the training
parameters; `compare.py` trains a network in both, `page.py` and `picture.py` write the results.
"""
