"""Files of tables: their kinds, layouts and cells."""
