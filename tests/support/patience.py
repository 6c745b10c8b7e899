"""How long a test waits for a fact before it takes it for lost.

On a loaded machine all is late and nothing is wrong; what hangs, hangs for ever. So this is long,
and no test that passes waits for its end. It is well below `faulthandler_timeout`.
"""

from typing import Final

SECONDS_MAX: Final = 120
