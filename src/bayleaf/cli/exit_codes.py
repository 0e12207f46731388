"""What the command line's exit codes mean; 0 is success and 1 a failure of its own."""

# Input that cannot be used: one sentence on standard error says why.
BAD_INPUT = 2
INTERRUPTED = 130
