"""Recognizes MindSpore checkpoints, which have parameters but no network, for an error message with advice."""

from __future__ import annotations

from pathlib import Path

_LARGEST_HEADER = 100 << 20
_LENGTH_DELIMITED = 0x7F


def is_checkpoint(content: bytes) -> bool:
    """Returns whether this is a `.ckpt` file (protobuf, values of tag and tensor) or `.safetensors` (length, JSON
    header)."""
    return _is_safetensors(content) or _is_ckpt(content)


def _is_safetensors(content: bytes) -> bool:
    size = int.from_bytes(content[:8], "little")
    return content[8:10] == b'{"' and 2 <= size <= min(len(content) - 8, _LARGEST_HEADER)


def _is_ckpt(content: bytes) -> bool:
    """Returns whether the first value has a tag (an ASCII name) as its first field and a tensor as its second."""
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
    """Returns an error message with the Python lines that export a model from the checkpoint."""
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
    other = " For PyTorch, save the program of torch.export.export." if path.suffix == ".safetensors" else ""
    return (
        "this is a checkpoint: it has parameters, but no network. In MindSpore, load it into the network, export the "
        f"network, and convert '{path.stem}.mindir'.{other}{text}"
    )
