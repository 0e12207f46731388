"""Networks drawn by hand: fitted, completed, intervened upon."""
