"""Drawing a workflow: its steps, choices, loops and delegations as one flow from top to bottom.

`flow.py` reads the flow out of the compiled form; `mermaid.py` writes it for tools that lay out by
themselves; `layout.py` and `svg.py` lay it out and draw it here. The same workflow gives the same
bytes, so a drawing can be kept in a repository and compared.
"""
