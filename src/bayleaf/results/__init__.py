"""What results show, once for terminals, pages, Markdown and JSON."""
