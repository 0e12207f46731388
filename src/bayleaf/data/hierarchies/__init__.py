"""Value hierarchies from files and ranges, cut and fitted to columns."""
