"""Formats that are XML, and how XML is read without harm."""
