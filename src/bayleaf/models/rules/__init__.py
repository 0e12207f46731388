"""What the states of latent variables mean, as short lists of rules."""
