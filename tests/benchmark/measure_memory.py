"""Peak memory of the tasks of a job with one large variable.

    measure_memory.py [--optimizer SGD] [--gigabytes 2.5] [--workers 1] [--set KEY=VALUE ...]

Runs one parameter server and workers as real processes on a dense layer with so
large a kernel, two steps a worker, and prints the peak resident memory of each
task (result.json), and that of the server over the bytes of its variables and
slots.
"""

import argparse
import json
import os
import random
import re
import struct
import subprocess
import tempfile

import peer_process

BATCH_SIZE = 2
STEPS = 2
CLASSES = 2


def write_idx(path, shape, element, values):
    """Floats ("f") or bytes ("B"), big-endian as IDX is."""
    kind = {"f": 0x0D, "B": 0x08}[element]
    with open(path, "wb") as file:
        file.write(struct.pack(f">HBB{len(shape)}I", 0, kind, len(shape), *shape))
        file.write(struct.pack(f">{len(values)}{element}", *values))


def width_of(gigabytes):
    """Of a square kernel of so many bytes."""
    return int((gigabytes * 1e9 / 4) ** 0.5)


def write_job(folder, width, optimizer, workers):
    examples = BATCH_SIZE * STEPS * workers
    features, labels = f"{folder}/features", f"{folder}/labels"
    write_idx(features, [examples, width], "f", [random.random() for _ in range(examples * width)])
    write_idx(labels, [examples], "B", [i % CLASSES for i in range(examples)])
    job = f"{folder}/job.yaml"
    with open(job, "w", encoding="utf-8") as file:
        json.dump({
            "strategy": "parameter_server",
            "cluster": {"ps": 1, "worker": workers},
            "model": {"layers": [{"Input": {"shape": [width]}},
                                 {"Dense": {"units": width, "use_bias": False}},
                                 {"Dense": {"units": CLASSES}}]},
            "loss": {"SparseCategoricalCrossentropy": {"from_logits": True}},
            "optimizer": {optimizer: {"learning_rate": 1e-4}},
            "data": {"train": {"idx": {"features": features, "labels": labels}}},
            "batch_size_per_replica": BATCH_SIZE,
            "epochs": 1,
        }, file)
    return job


def run(coordinator, optimizer, gigabytes, workers, settings=()):
    """Its result.json, and the bytes that its server held."""
    with tempfile.TemporaryDirectory() as folder:
        job = write_job(folder, width_of(gigabytes), optimizer, workers)
        output = f"{folder}/output"
        subprocess.run([coordinator, "run", job, "--output", output,
                        *[f"--set={setting}" for setting in settings]],
                       stdout=subprocess.DEVNULL, timeout=peer_process.TIMEOUT_SECONDS, check=True)
        with open(f"{output}/result.json", encoding="utf-8") as file:
            result = json.load(file)
        with open(f"{output}/logs/ps-0.log", encoding="utf-8") as file:
            held = int(re.search(r"(\d+) bytes of variables and slots", file.read())[1])
    return result, held


def peaks_of(coordinator, optimizer, gigabytes, workers):
    """{task: bytes}."""
    result, _ = run(coordinator, optimizer, gigabytes, workers)
    return {f"{task['type']}-{task['index']}": task["peak_rss_bytes"]
            for task in result["tasks"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--optimizer", default="SGD")
    parser.add_argument("--gigabytes", type=float, default=2.5)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--set", action="append", default=[])
    options = parser.parse_args()
    result, held = run(f"{peer_process.ROOT}/build/release/bin/coordinator", options.optimizer,
                       options.gigabytes, options.workers, options.set)
    width = width_of(options.gigabytes)
    print(f"a kernel of {width * width * 4:,} bytes, {options.optimizer}")
    for task in result["tasks"]:
        peak = task["peak_rss_bytes"]
        ratio = f", {peak / held:.3f} of {held:,} bytes held" if task["type"] == "ps" else ""
        print(f"{task['type']}-{task['index']}: peak {peak:,} bytes{ratio}")


if __name__ == "__main__":
    main()
