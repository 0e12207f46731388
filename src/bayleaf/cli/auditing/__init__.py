"""The command that audits a classifier by groups."""
