"""The verbs: what one can ask of Headway, one file each.

Law. A verb loads, decides, appends in one transaction that names the version it expects, and
renders its reply from recorded facts. The append is its last I/O. It is synchronous; surfaces call
it in a thread. Surfaces know this room and nothing below it.
"""
