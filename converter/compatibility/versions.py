"""The versions of MindSpore Lite that a file can be converted for."""

from __future__ import annotations

from enum import Enum


class Version(Enum):
    """The known versions, oldest first."""

    V1_3 = (1, 3)
    V1_5 = (1, 5)
    V2_0 = (2, 0)
    V2_7 = (2, 7)

    @property
    def label(self) -> str:
        """The version as in `--targetVersion`."""
        return ".".join(map(str, self.value))

    @property
    def title(self) -> str:
        """The version as in messages."""
        return f"MindSpore Lite {self.label}"

    @property
    def wire(self) -> str:
        """The version as in a `.ms` file."""
        return f"MindSpore Lite {self.label}.0"

    def __le__(self, other: Version) -> bool:
        return self.value <= other.value

    def __lt__(self, other: Version) -> bool:
        return self.value < other.value


VERSIONS = {version.label: version for version in Version}
