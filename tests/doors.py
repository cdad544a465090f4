"""A door into a house for a channel under test, as `minding` makes one."""

from dataclasses import dataclass, field

import recollect
from recollect.channels import kinds
from recollect.channels.kinds import Door
from recollect.mind.mind import Mind


@dataclass
class Told:
    """What a channel said was the matter, in its order."""

    problems: list[str] = field(default_factory=list)


def door_of(memory: recollect.Memory, mind: Mind, told: Told | None = None) -> Door:
    return kinds.door_of(memory, mind, (told or Told()).problems.append)
