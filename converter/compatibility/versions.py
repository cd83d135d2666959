"""The versions of MindSpore Lite that a file can be made for."""

from __future__ import annotations

from enum import Enum


class Version(Enum):
    """A version whose CPU runtime's rules are known, oldest first."""

    V1_3 = (1, 3)
    V1_5 = (1, 5)
    V2_0 = (2, 0)
    V2_7 = (2, 7)

    @property
    def label(self) -> str:
        """As in `--targetVersion`."""
        return ".".join(map(str, self.value))

    @property
    def title(self) -> str:
        """As users call it."""
        return f"MindSpore Lite {self.label}"

    @property
    def wire(self) -> str:
        """As in a file."""
        return f"MindSpore Lite {self.label}.0"

    def __le__(self, other: Version) -> bool:
        return self.value <= other.value

    def __lt__(self, other: Version) -> bool:
        return self.value < other.value


VERSIONS = {version.label: version for version in Version}
