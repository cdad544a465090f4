"""Our own words about markers. An agent that says again what it was told of them keeps nothing by it."""

from recollect.markers.payload import payload_of

OWN_TEXT = "recollect-context"
"""The element around what an agent is given by hooks and tools."""
EXAMPLE = '{"content": "The well behind the house is 14 metres deep.", "category": "knowledge", "tags": ["well"]}'
"""Of a marker's object, as agents are shown it. It was `text` once in the place of `content`, and said the same."""
EXAMPLE_SAYS = payload_of(EXAMPLE)[0].said
