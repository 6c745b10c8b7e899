"""`headway mcp` with a `headway up` of its own behind it, for programs that start one command."""

import subprocess
import sys


def main() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "headway", "up", "--no-worker", "--port", "0", "--json"],
        stdout=subprocess.PIPE,
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline(), "the server did not start"
        try:
            subprocess.run([sys.executable, "-m", "headway", "mcp"], check=True)
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
