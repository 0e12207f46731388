"""Texts and small pictures of networks and of class models, and what both hold."""
