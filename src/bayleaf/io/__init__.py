"""Files of models and networks: one file a format."""

from bayleaf.io.native import ModelFileError, SavedModel, read_model, write_model

__all__ = ["ModelFileError", "SavedModel", "read_model", "write_model"]
