"""Tables that commands read batch by batch: many files, and those beyond memory."""
