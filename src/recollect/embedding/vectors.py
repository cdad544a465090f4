"""The type of vectors, apart from the protocols so that those can be imported without numpy."""

from typing import TypeAlias

import numpy
from numpy.typing import NDArray

Vectors: TypeAlias = NDArray[numpy.float32]
