"""The linter: what compiles, and is yet likely to go wrong or to read badly.

Law: a rule looks at one workflow, says where and why, and never keeps a workflow from being
started. Every rule has a code, a reason, a remedy, and a file that breaks it beside one that does
not; an author who knows better allows the finding in the file, with a reason.

Theory of operation. `subject` lays a document out as the steps of a run, in order, each with the
texts an agent reads there and the conditions asked there. A rule is a small function over that;
`registry` lists them all. `linting` runs them and takes out what is allowed.
"""

__all__: list[str] = []
