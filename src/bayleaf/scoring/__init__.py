"""Class scores as a base and a sum of terms, which every export reads."""
