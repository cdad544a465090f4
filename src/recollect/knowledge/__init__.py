"""Knowledge: what was learned, as records that can be traced, corrected and forgotten."""
