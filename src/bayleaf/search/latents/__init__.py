"""Search for latent variables between the class and its children."""
