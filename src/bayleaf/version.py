"""The version of this package, which builds read too."""

__version__ = "0.1.0"
