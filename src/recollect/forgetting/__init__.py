"""Forgetting: something goes with everything that came from it, stays away, and nothing of it is left.

Tombstones and receipts lie in `lineage`; each capability erases its own rows. Here is who calls them, in which order,
and the verifier that looks afterwards whether it is true.
"""

from recollect.forgetting.acts import ForgettingFigures, Forgotten, Part, Reach
from recollect.forgetting.forgetting import Forgetting

__all__ = ["Forgetting", "ForgettingFigures", "Forgotten", "Part", "Reach"]
