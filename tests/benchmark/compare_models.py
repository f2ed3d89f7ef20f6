"""Training steps of whole models, ours against TensorFlow and PyTorch.

    compare_models.py MODEL --tensorflow-python VENV/bin/python [--torch-python …] [--pairs 5]

MODEL is resnet18 (224 × 224) or mobilenet_v2 (160 × 160): 16 images in float32,
all layers trained, the optimizer of deploy/jobs/MODEL.yaml. Interleaves
`model_benchmark` with each peer at its best setting, which it finds first, and
prints the ratios of the median steps.
"""

import argparse
import json
import os
import statistics
import subprocess

import peer_process

SIZES = {"resnet18": 224, "mobilenet_v2": 160}
BATCH_SIZE = 16
MODES = {
    "TensorFlow": ("model_step_tensorflow.py", ["graph", "xla"]),
    "PyTorch": ("model_step_pytorch.py",
                ["eager-contiguous", "eager-channels_last", "compile-contiguous",
                 "compile-channels_last"]),
}


class Peer:
    """A process that runs steps when asked, and else waits."""

    def __init__(self, python, script, mode, arguments):
        self.mode = mode
        self._process = subprocess.Popen(
            [python, f"{peer_process.HERE}/peers/{script}", arguments.model,
             str(SIZES[arguments.model]), str(BATCH_SIZE), str(arguments.threads), mode],
            env=peer_process.peer_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)

    def run(self, steps):
        """Median seconds of so many."""
        self._process.stdin.write(f"{steps}\n")
        self._process.stdin.flush()
        return statistics.median(json.loads(self._process.stdout.readline())["seconds"])

    def end(self):
        self._process.kill()
        self._process.wait()


def fastest(name, python, arguments):
    """The peer in the mode whose warm steps are the shortest, and what each took."""
    script, modes = MODES[name]
    best, best_seconds, tried = None, None, {}
    for mode in modes:
        peer = Peer(python, script, mode, arguments)
        try:
            peer.run(2)
            seconds = peer.run(arguments.steps)
        except (BrokenPipeError, json.JSONDecodeError):
            tried[mode] = None
            peer.end()
            continue
        tried[mode] = seconds
        worse = peer
        if best is None or seconds < best_seconds:
            best, best_seconds, worse = peer, seconds, best
        if worse is not None:
            worse.end()
    if best is None:
        raise RuntimeError(f"{name} runs in none of {modes}")
    return best, tried


def run_ours(arguments):
    size = SIZES[arguments.model]
    finished = subprocess.run(
        [arguments.benchmark, f"{peer_process.ROOT}/deploy/jobs/{arguments.model}.yaml",
         "--set", f"model.layers[0].Input.shape=[{size}, {size}, 3]", "--batch", str(BATCH_SIZE),
         "--threads", str(arguments.threads), "--warmup", "2", "--steps", str(arguments.steps)],
        stdout=subprocess.PIPE, timeout=peer_process.TIMEOUT_SECONDS, check=True)
    return json.loads(finished.stdout)["median_seconds"]


def measure(peers, arguments):
    """Median seconds of each interleaved run."""
    columns = {"ours": []} | {name: [] for name in peers}
    for _ in range(arguments.pairs):
        columns["ours"].append(run_ours(arguments))
        for name, peer in peers.items():
            peer.run(1)
            columns[name].append(peer.run(arguments.steps))
    return columns


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=SIZES)
    parser.add_argument("--tensorflow-python", help="Python with tensorflow-cpu 2.21")
    parser.add_argument("--torch-python", help="Python with torch")
    parser.add_argument("--benchmark",
                        default=f"{peer_process.ROOT}/build/release/bin/model_benchmark")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count()))
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=3, help="timed steps of a run")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()

    pythons = {"TensorFlow": arguments.tensorflow_python, "PyTorch": arguments.torch_python}
    peers, tried = {}, {}
    try:
        for name, python in pythons.items():
            if python is not None:
                peers[name], tried[name] = fastest(name, python, arguments)
        columns = measure(peers, arguments)
    finally:
        for peer in peers.values():
            peer.end()
    ratios = {name: [theirs / ours for ours, theirs in zip(columns["ours"], columns[name])]
              for name in peers}
    if arguments.json:
        print(json.dumps({
            "tried_seconds": tried,
            "seconds": {name: peer_process.summary(values) for name, values in columns.items()},
            "ratio": {name: peer_process.summary(values) for name, values in ratios.items()},
        }, indent=2))
        return
    print(f"{arguments.model}: median (quartiles) of {arguments.pairs} interleaved runs of "
          f"{arguments.steps} steps on {arguments.threads} cores\n")
    print("| | s/step | theirs / ours |\n|---|---|---|")
    for name, values in columns.items():
        mode = f", {peers[name].mode}" if name in peers else ""
        ratio = peer_process.describe(ratios[name]) if name in ratios else ""
        print(f"| {name}{mode} | {peer_process.describe(values)} | {ratio} |")
    print(f"\nTried, s/step: {json.dumps(tried)}")


if __name__ == "__main__":
    main()
