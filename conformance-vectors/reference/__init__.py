"""The specification once more, as plain Python: one module a chapter, written from spec/ alone.

It is the first opinion on every vector. It shares no code with the SDKs and is not meant for use:
it prefers the words of the spec to speed.
"""
