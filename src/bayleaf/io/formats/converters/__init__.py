"""Networks of other libraries, made in memory."""
