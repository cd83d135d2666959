"""How operands and attributes of a node must fit together, where numbers in a table cannot say it. The table names these."""

from . import images, movement, numbers
from ._declare import RELATIONS

__all__ = ["RELATIONS", "images", "movement", "numbers"]
