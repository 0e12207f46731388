"""Learning with what was not observed: missing cells and latent variables."""

from bayleaf.latent.em import LearnedParameters, learn_parameters

__all__ = ["LearnedParameters", "learn_parameters"]
