"""The whole main job, ours against TensorFlow's ParameterServerStrategy.

    compare_main_job.py --tensorflow-python VENV/bin/python [--pairs 5] [--epochs 4]

Runs interleaved pairs on one machine, each of 1 ps and 2 workers on loopback:
`coordinator run deploy/jobs/fashion_mnist.yaml`, and tensorflow_step.py at 50
steps a call. Prints a table, and with --json the same as JSON.
"""

import argparse
import json
import os
import subprocess
import tempfile

import peer_process


def run_ours(coordinator, epochs):
    with tempfile.TemporaryDirectory() as output:
        subprocess.run([coordinator, "run", f"{peer_process.ROOT}/deploy/jobs/fashion_mnist.yaml",
                        "--set", f"epochs={epochs}", "--output", output],
                       stdout=subprocess.DEVNULL, timeout=peer_process.TIMEOUT_SECONDS, check=True)
        with open(f"{output}/result.json", encoding="utf-8") as file:
            result = json.load(file)
    peak = {}
    for task in result["tasks"]:
        kind = task["type"]
        peak[kind] = max(peak.get(kind, 0), task["peak_rss_bytes"])
    return {
        "examples_per_second": result["timing"]["examples_per_second"],
        "first_step_seconds": result["timing"]["first_step_seconds"],
        "ps_bytes": peak["ps"],
        "worker_bytes": peak["worker"],
    }


def run_tensorflow(python, epochs):
    addresses = peer_process.free_addresses(4)
    cluster = {"ps": addresses[:1], "worker": addresses[1:3], "chief": addresses[3:]}

    def environment(kind, index):
        return peer_process.peer_environment(STEPS_PER_CALL="50", TF_CONFIG=json.dumps(
            {"cluster": cluster, "task": {"type": kind, "index": index}}))

    script = f"{peer_process.HERE}/peers/tensorflow_step.py"
    servers = {}
    try:
        for kind, index in (("ps", 0), ("worker", 0), ("worker", 1)):
            servers[kind, index] = subprocess.Popen(
                [python, script, "parameter_server", str(epochs)], env=environment(kind, index),
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        result = peer_process.run_peer(python, "tensorflow_step.py", "parameter_server", epochs,
                                       environment=environment("chief", 0))
    finally:
        # TensorFlow's servers never end by themselves.
        peak = {}
        for (kind, _), process in servers.items():
            process.kill()
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = 0
            peak[kind] = max(peak.get(kind, 0), usage.ru_maxrss * 1024)
    return result | {"ps_bytes": peak["ps"], "worker_bytes": peak["worker"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow-python", required=True, help="Python with tensorflow-cpu and tf-keras 2.21")
    parser.add_argument("--coordinator",
                        default=f"{peer_process.ROOT}/build/release/bin/coordinator")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()

    ours, theirs = [], []
    for _ in range(arguments.pairs):
        ours.append(run_ours(arguments.coordinator, arguments.epochs))
        theirs.append(run_tensorflow(arguments.tensorflow_python, arguments.epochs))
    rows = {
        "examples/s": ("examples_per_second", 1),
        "first step, s": ("first_step_seconds", 1),
        "ps, MB": ("ps_bytes", 1e6),
        "worker, MB": ("worker_bytes", 1e6),
    }
    table = {}
    for name, (key, unit) in rows.items():
        table[name] = {
            "ours": [run[key] / unit for run in ours],
            "TensorFlow": [run[key] / unit for run in theirs],
            "ratio": [a[key] / b[key] for a, b in zip(ours, theirs)],
        }
    if arguments.json:
        print(json.dumps({name: {column: peer_process.summary(values)
                                 for column, values in columns.items()}
                          for name, columns in table.items()}, indent=2))
        return
    print(f"Median (quartiles) of {arguments.pairs} interleaved pairs of {arguments.epochs} epochs\n")
    print("| | ours | TensorFlow | ratio |\n|---|---|---|---|")
    for name, columns in table.items():
        print(f"| {name} | {' | '.join(map(peer_process.describe, columns.values()))} |")


if __name__ == "__main__":
    main()
