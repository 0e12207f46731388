"""Tables in partitions, which are read, summarised and counted where they lie."""
