"""Files of models and networks: one file a format."""

from bayleaf.io.diagram_files import read_influence_diagram, write_influence_diagram
from bayleaf.io.errors import ModelFileError
from bayleaf.io.formats.source_file import NetworkFileError
from bayleaf.io.native.kinds import register_model_kind
from bayleaf.io.native.model_file import SavedModel, read_model, write_model
from bayleaf.io.registry import read_network, write_network

__all__ = [
    "ModelFileError",
    "NetworkFileError",
    "SavedModel",
    "read_influence_diagram",
    "read_model",
    "read_network",
    "register_model_kind",
    "write_influence_diagram",
    "write_model",
    "write_network",
]
