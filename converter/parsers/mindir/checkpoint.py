"""Checkpoints of MindSpore in place of a model: files of parameters, without a network."""

from __future__ import annotations

from pathlib import Path

_LARGEST_HEADER = 100 << 20
_LENGTH_DELIMITED = 0x7F


def is_checkpoint(content: bytes) -> bool:
    """The form of `.ckpt` (protobuf: repeated value {tag, tensor}) or of `.safetensors` (a header in JSON behind its length)."""
    return _is_safetensors(content) or _is_ckpt(content)


def _is_safetensors(content: bytes) -> bool:
    size = int.from_bytes(content[:8], "little")
    return content[8:10] == b'{"' and 2 <= size <= min(len(content) - 8, _LARGEST_HEADER)


def _is_ckpt(content: bytes) -> bool:
    """The first value's first field is its tag, a name, and its second one the tensor."""
    if content[:1] != b"\x0a":
        return False
    begin = 1
    while begin < len(content) and content[begin] > _LENGTH_DELIMITED:
        begin += 1
    value = content[begin + 1 : begin + 260]
    if value[:1] != b"\x0a" or len(value) < 3:
        return False
    end = 2 + value[1]
    return value[1] <= _LENGTH_DELIMITED and value[end : end + 1] == b"\x12" and value[2:end].isascii()


def export_advice(path: Path) -> str:
    """What to do with a checkpoint: the lines of Python that make a model of it."""
    load = f'ms.load_checkpoint("{path.name}"' + (', format="safetensors")' if path.suffix == ".safetensors" else ")")
    lines = (
        "import mindspore as ms",
        "network = Network()  # the class of the network that was trained",
        f"ms.load_param_into_net(network, {load})",
        "network.set_train(False)",
        "x = ms.Tensor(shape=[1, 3, 224, 224], dtype=ms.float32)  # its input",
        f'ms.export(network, x, file_name="{path.stem}", file_format="MINDIR")',
    )
    text = "".join(f"\n    {line}" for line in lines)
    other = " Of PyTorch, save the program of torch.export.export." if path.suffix == ".safetensors" else ""
    return (
        "this is a checkpoint: it has parameters, but no network. Export the network with them in MindSpore, and convert "
        f"'{path.stem}.mindir'.{other}{text}"
    )
