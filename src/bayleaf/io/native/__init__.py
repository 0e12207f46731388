"""The library's own files of models and networks."""
