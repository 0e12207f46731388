"""Files that score rows by themselves, in Python and in JavaScript."""
