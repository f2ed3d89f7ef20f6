"""One worker's step, ours against TensorFlow and PyTorch in one process.

    compare_step.py --tensorflow-python VENV/bin/python [--torch-python …] [--pairs 5]

Interleaves `step_benchmark` (Step, Adam included) on all cores with the peers'
own training loops over Fashion-MNIST, and prints the ratios of steps/s.
"""

import argparse
import json
import os

import peer_process


def run_ours(benchmark, threads):
    (result,) = peer_process.run_benchmark(
        benchmark, f"--benchmark_filter=^Step/threads:{threads}/", "--benchmark_min_time=5")
    return result["items_per_second"] / peer_process.BATCH_SIZE


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow-python", help="Python with tensorflow-cpu 2.21")
    parser.add_argument("--torch-python", help="Python with torch")
    parser.add_argument("--benchmark",
                        default=f"{peer_process.ROOT}/build/release/bin/step_benchmark")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count()))
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()

    peers = {
        "TensorFlow": (arguments.tensorflow_python, "tensorflow_step.py"),
        "PyTorch": (arguments.torch_python, "pytorch_step.py"),
    }
    peers = {name: peer for name, peer in peers.items() if peer[0] is not None}
    columns = {"ours": []} | {name: [] for name in peers}
    for _ in range(arguments.pairs):
        columns["ours"].append(run_ours(arguments.benchmark, arguments.threads))
        for name, (python, script) in peers.items():
            report = peer_process.run_peer(python, script, "single", arguments.epochs)
            columns[name].append(report["steps_per_second"])
    ratios = {name: [a / b for a, b in zip(columns["ours"], columns[name])] for name in peers}
    if arguments.json:
        print(json.dumps({
            "steps_per_second": {name: peer_process.summary(values)
                                 for name, values in columns.items()},
            "ratio": {name: peer_process.summary(values) for name, values in ratios.items()},
        }, indent=2))
        return
    print(f"Median (quartiles) of {arguments.pairs} interleaved runs on {arguments.threads} cores\n")
    print("| | steps/s | ours / theirs |\n|---|---|---|")
    for name, values in columns.items():
        ratio = peer_process.describe(ratios[name]) if name in ratios else ""
        print(f"| {name} | {peer_process.describe(values)} | {ratio} |")


if __name__ == "__main__":
    main()
