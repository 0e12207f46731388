"""Training rows behind a model's distributions, and draws from their posteriors."""
