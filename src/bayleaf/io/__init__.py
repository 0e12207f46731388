"""Files of models and networks: one file a format."""

from bayleaf.io.fields import ModelFileError
from bayleaf.io.native import SavedModel, read_model, write_model

__all__ = ["ModelFileError", "SavedModel", "read_model", "write_model"]
