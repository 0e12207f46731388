"""Pictures as text: SVG and HTML that a page or a notebook shows as they are."""
