"""What a parameter server takes in and gives out, ours against TensorFlow's.

    compare_ps.py --tensorflow-python VENV/bin/python [--pairs 5]

Interleaves `ps_benchmark` (a push is applied with SGD; through shared memory, and
over TCP on loopback) with TensorFlow's runtime (a push is added; over loopback),
and prints the ratios of bytes/s.
"""

import argparse
import json
import subprocess

import peer_process

SIZES_MIB = ("1", "4", "64")
CALLS = ("push", "pull")
WAYS = ("shared", "tcp")


def run_ours(benchmark):
    rates = {}
    for result in peer_process.run_benchmark(benchmark, "--benchmark_filter=^(Push|Pull)/"):
        call, size, way = result["name"].split("/")[:3]
        rates[(call.lower(), size.removeprefix("MiB:"), way)] = result["bytes_per_second"]
    return rates


def run_tensorflow(python):
    addresses = peer_process.free_addresses(3)
    command = [python, f"{peer_process.HERE}/peers/tensorflow_ps_bandwidth.py"]
    servers = [
        subprocess.Popen([*command, role, *addresses], env=peer_process.peer_environment(),
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for role in ("ps", "worker")
    ]
    try:
        finished = subprocess.run(
            [*command, "chief", *addresses], env=peer_process.peer_environment(),
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            timeout=peer_process.TIMEOUT_SECONDS, check=True)
    finally:
        for server in servers:
            server.kill()
            server.wait()
    return {(call, size): rate
            for size, rates in json.loads(finished.stdout).items()
            for call, rate in rates.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow-python", required=True,
                        help="Python with tensorflow-cpu 2.21")
    parser.add_argument("--benchmark",
                        default=f"{peer_process.ROOT}/build/release/bin/ps_benchmark")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()

    pairs = [(run_ours(arguments.benchmark), run_tensorflow(arguments.tensorflow_python))
             for _ in range(arguments.pairs)]
    rows = {(call, size, way): [(ours[call, size, way], theirs[call, size])
                                for ours, theirs in pairs]
            for way in WAYS for call in CALLS for size in SIZES_MIB}
    if arguments.json:
        print(json.dumps({
            f"{call}/{size} MiB/{way}": {
                "ours": peer_process.summary([ours for ours, _ in row]),
                "tensorflow": peer_process.summary([theirs for _, theirs in row]),
                "ratio": peer_process.summary([ours / theirs for ours, theirs in row]),
            } for (call, size, way), row in rows.items()
        }, indent=2))
        return
    print(f"Median (quartiles) of {arguments.pairs} interleaved pairs, GB/s\n")
    print("| | ours | TensorFlow | ratio |\n|---|---|---|---|")
    for (call, size, way), row in rows.items():
        ours = peer_process.describe([rate / 1e9 for rate, _ in row])
        theirs = peer_process.describe([rate / 1e9 for _, rate in row])
        ratio = peer_process.describe([rate / other for rate, other in row])
        print(f"| {way}: {call}, {size} MiB | {ours} | {theirs} | {ratio} |")


if __name__ == "__main__":
    main()
