"""The native core: functions over a library in C++, declared by their signatures.

Functions check types, shapes and layout of arrays; what the arrays hold is checked by
those who make them (`bayleaf.data.codes.Codes` for codes), once.
"""
