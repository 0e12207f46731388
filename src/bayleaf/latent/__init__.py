"""Parameters that no counting gives: with missing cells, or fitted to the classes."""

from bayleaf.latent.network_parameters import LearnedParameters, learn_parameters

__all__ = ["LearnedParameters", "learn_parameters"]
