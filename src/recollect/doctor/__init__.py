"""`recollect doctor`: what is well and what is not, from evidence, each finding with the next step.

One module for each thing that is looked at; `examining` puts them together.
"""

from recollect.doctor.examining import examine
from recollect.doctor.findings import Finding, Level

__all__ = ["Finding", "Level", "examine"]
