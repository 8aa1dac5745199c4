"""idem at work for Python."""
