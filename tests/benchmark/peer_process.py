"""Runs processes and reads what the peers report."""

import json
import os
import socket
import statistics
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TIMEOUT_SECONDS = 900

# Of a replica, in all of the work compared here.
BATCH_SIZE = 64


def peer_environment(**more):
    # The peers compute on the CPU, as we do.
    return dict(os.environ, CUDA_VISIBLE_DEVICES="", TF_CPP_MIN_LOG_LEVEL="3", **more)


def run_peer(python, script, *arguments, environment=None):
    """The reports of a peer that runs in one process."""
    finished = subprocess.run([python, f"{HERE}/peers/{script}", *map(str, arguments)],
                              env=environment or peer_environment(), timeout=TIMEOUT_SECONDS,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if finished.returncode != 0:
        raise RuntimeError(f"{script} {arguments}: {finished.stderr[-2000:]}")
    return parse_reports(finished.stdout)


def run_benchmark(program, *options):
    """The results of a program of Google Benchmark's."""
    finished = subprocess.run([program, "--benchmark_format=json", *options],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=TIMEOUT_SECONDS, check=True)
    return json.loads(finished.stdout)["benchmarks"]


def parse_reports(text):
    """{"first_step_seconds", "steps_per_second", "examples_per_second", "accuracy"}.

    Rates are the median epoch's, without the first, as in our result.json.
    """
    events = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    epochs = [event for event in events if event["event"] == "epoch"]
    epochs = epochs[1:] or epochs
    reports = {
        rate: statistics.median(epoch[rate] for epoch in epochs)
        for rate in ("steps_per_second", "examples_per_second")
    }
    for event in events:
        if event["event"] == "first_step":
            reports["first_step_seconds"] = event["seconds"]
        elif event["event"] == "evaluation":
            reports["accuracy"] = event["accuracy"]
    return reports


def free_addresses(count):
    """Loopback addresses whose ports are free now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    addresses = [f"127.0.0.1:{s.getsockname()[1]}" for s in sockets]
    for s in sockets:
        s.close()
    return addresses


def summary(values):
    """Median and quartiles."""
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return {"median": median, "quartiles": [low, high], "values": values}


def describe(values):
    """The same for people."""
    result = summary(values)
    low, high = result["quartiles"]
    return f"{result['median']:.3g} ({low:.3g}–{high:.3g})"
