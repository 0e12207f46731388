"""What setting variables would do, if the arrows of a network are causal."""
