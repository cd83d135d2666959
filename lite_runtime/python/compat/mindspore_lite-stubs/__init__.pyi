from mslite import *  # noqa: F403  # its __all__, whatever that comes to hold
from mslite import __version__ as __version__
