"""What the columns of a table hold, whatever type they came with."""
