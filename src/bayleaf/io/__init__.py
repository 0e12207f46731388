"""Files of models and networks: one file a format."""

from bayleaf.io.fields import ModelFileError
from bayleaf.io.models import register_model_kind
from bayleaf.io.native import SavedModel, read_model, write_model
from bayleaf.io.registry import read_network, write_network
from bayleaf.io.source_file import NetworkFileError

__all__ = [
    "ModelFileError",
    "NetworkFileError",
    "SavedModel",
    "read_model",
    "read_network",
    "register_model_kind",
    "write_model",
    "write_network",
]
