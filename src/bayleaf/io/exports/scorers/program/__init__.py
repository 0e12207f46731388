"""The parts of a scorer in Python: each may use the standard library and the others.

A scorer holds those that its model needs, one after another, so they stay with what
Python 3.8 knows.
"""
