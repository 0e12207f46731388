"""Parameters that no counting gives: with missing cells, or fitted to the classes."""

from bayleaf.latent.em import LearnedParameters, learn_parameters

__all__ = ["LearnedParameters", "learn_parameters"]
