"""How a peer runs its steps: as lines on stdin ask for them (step_peer.py).

Each line is a number of steps, which the peer answers with a line of JSON: the
mean seconds of a step.
"""

import json
import sys
import time


def serve(step, wait):
    """Calls `step`, and at the end `wait` with what the last one returned."""
    for line in sys.stdin:
        count = int(line)
        start = time.perf_counter()
        for _ in range(count):
            last = step()
        wait(last)
        print(json.dumps({"seconds": (time.perf_counter() - start) / count}), flush=True)
