"""How a peer of compare_models.py runs its steps: as lines on stdin ask for them.

Each line is a number of steps, which the peer answers with a line of JSON: the
seconds of each. So it is built once, and stands still while others are timed.
"""

import json
import sys
import time


def serve(step):
    """Calls `step`, which returns when its variables are updated."""
    for line in sys.stdin:
        seconds = []
        for _ in range(int(line)):
            start = time.perf_counter()
            step()
            seconds.append(time.perf_counter() - start)
        print(json.dumps({"seconds": seconds}), flush=True)
