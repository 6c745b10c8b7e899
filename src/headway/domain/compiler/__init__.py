"""The workflow language: reading files, checking them, compiling them to one form.

Law: the same authored content compiles to the same bytes on every machine, whatever the file is
called, in whatever order its keys stand, JSON or YAML; and every problem of a file is told at once,
each with its place, its rule and its remedy.

Theory of operation. `reading` turns bytes into a tree and can say later where each part stood.
`grammar` holds the language as tables, `checking` holds a tree against them. `compiling` then
builds the `Workflow`, tolerant of what is already reported, so that one run finds problems of
every layer.
"""

__all__: list[str] = []
