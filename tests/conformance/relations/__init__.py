"""Relations between operands and attributes of a node that cannot be expressed as numbers. The table lists them by name."""

from . import images, movement, numbers
from ._declare import RELATIONS

__all__ = ["RELATIONS", "images", "movement", "numbers"]
