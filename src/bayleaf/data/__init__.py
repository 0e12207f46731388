"""A table becomes integer codes."""
