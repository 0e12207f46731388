"""The native core: typed functions over a library in C++, one module a folder of it.

Functions check types, shapes and layout of arrays; what the arrays hold is checked by
those who make them (`bayleaf.data.codes.Codes` for codes), once.
"""
