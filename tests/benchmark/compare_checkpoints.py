"""Training throughput while a model.keras of 1 GB is written, against that without.

    compare_checkpoints.py [--gigabytes 1] [--every-seconds 60] [--pairs 5]

Trains a dense layer whose kernel and two slots of Adam are so many bytes, with one
parameter server and one worker, as real processes. After a run that tells how long
a step takes, interleaves runs without checkpoints and with one each so many seconds;
both last two and a half of these periods. A checkpoint is the shard's file and
model.keras. Prints the ratio of the steps' rates, and by how much the peak memory of
each task grows.
"""

import argparse
import contextlib
import json
import os
import subprocess
import tempfile
import time

import measure_memory
import peer_process

BATCH_SIZE = 64
CLASSES = 2


def write_job(folder, width):
    features, labels = f"{folder}/features", f"{folder}/labels"
    measure_memory.write_idx(features, [BATCH_SIZE, width], "B",
                             os.urandom(BATCH_SIZE * width))
    measure_memory.write_idx(labels, [BATCH_SIZE], "B", [i % CLASSES for i in range(BATCH_SIZE)])
    job = f"{folder}/job.yaml"
    with open(job, "w", encoding="utf-8") as file:
        json.dump({
            "strategy": "parameter_server",
            "cluster": {"ps": 1, "worker": 1},
            "model": {"layers": [{"Input": {"shape": [width]}},
                                 {"Dense": {"units": width, "use_bias": False}},
                                 {"Dense": {"units": CLASSES}}]},
            "loss": {"SparseCategoricalCrossentropy": {"from_logits": True}},
            "optimizer": {"Adam": {"learning_rate": 1e-4}},
            "data": {"train": {"idx": {"features": features, "labels": labels}}},
            "batch_size_per_replica": BATCH_SIZE,
        }, file)
    return job


def run(coordinator, job, steps, every_steps=0):
    """The seconds of the run, and the peak memory by task. An epoch is one step."""
    settings = [f"epochs={steps}"]
    if every_steps > 0:
        settings.append(f"checkpoint={{every_epochs: 0, every_steps: {every_steps}}}")
    with tempfile.TemporaryDirectory(dir=os.path.dirname(job)) as output:
        process = subprocess.Popen([coordinator, "run", job, "--output", output,
                                    *[f"--set={setting}" for setting in settings]],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        peaks = {"coordinator": wait_for_peak(process)}
        with open(f"{output}/result.json", encoding="utf-8") as file:
            result = json.load(file)
    peaks |= {f"{task['type']}-{task['index']}": task["peak_rss_bytes"]
              for task in result["tasks"]}
    return result["timing"]["total_seconds"], peaks


def wait_for_peak(process):
    """Waits for a process to succeed; returns its peak memory, read once a second."""
    deadline = time.monotonic() + peer_process.TIMEOUT_SECONDS
    peak = 0
    while process.poll() is None:
        if time.monotonic() > deadline:
            process.kill()
            raise TimeoutError(process.args)
        with contextlib.suppress(OSError), open(f"/proc/{process.pid}/status",
                                                encoding="utf-8") as status:
            lines = [line.split() for line in status]
            peak = max([peak, *[1024 * int(line[1]) for line in lines if line[0] == "VmHWM:"]])
        time.sleep(1)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return peak


def measure(arguments, folder):
    """The seconds of each run without and with checkpoints, and the growth by task."""
    job = write_job(folder, measure_memory.width_of(arguments.gigabytes / 3))
    short, _ = run(arguments.coordinator, job, 4)
    longer, _ = run(arguments.coordinator, job, 12)
    every = max(1, round(arguments.every_seconds * 8 / (longer - short)))
    # The last checkpoint is half a period before the end.
    steps = 5 * every // 2
    print(f"a checkpoint every {every} of {steps} steps\n")
    without, with_checkpoints, growth = [], [], {}
    for _ in range(arguments.pairs):
        seconds, quiet_peaks = run(arguments.coordinator, job, steps)
        without.append(seconds)
        seconds, peaks = run(arguments.coordinator, job, steps, every)
        with_checkpoints.append(seconds)
        for task, peak in peaks.items():
            growth.setdefault(task, []).append((peak - quiet_peaks[task]) / 1e6)
    return without, with_checkpoints, growth


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coordinator",
                        default=f"{peer_process.ROOT}/build/release/bin/coordinator")
    parser.add_argument("--gigabytes", type=float, default=1, help="of model.keras")
    parser.add_argument("--every-seconds", type=float, default=60)
    parser.add_argument("--pairs", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        without, with_checkpoints, growth = measure(arguments, folder)
    print(f"Median (quartiles) of {arguments.pairs} interleaved pairs\n")
    print("| without, s | with checkpoints, s | ratio of the rates |\n|---|---|---|")
    columns = [without, with_checkpoints, [a / b for a, b in zip(without, with_checkpoints)]]
    print(f"| {' | '.join(map(peer_process.describe, columns))} |\n")
    for task, megabytes in growth.items():
        print(f"{task}: peak memory grows by {peer_process.describe(megabytes)} MB")


if __name__ == "__main__":
    main()
