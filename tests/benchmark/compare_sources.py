"""Examples of CSV and TFRecord files in a second of CPU, ours against tf.data.

    compare_sources.py --tensorflow-python VENV/bin/python [--pairs 5]

Ours reads and converts all examples of a file to float32, in their order or shuffled; the
file is opened before, which takes one more look at it. TensorFlow's is the faster of two
ways (peers/tensorflow_data.py). Both verify the checksums of TFRecords. Time is that of
all threads, so that other work on the machine counts little.
"""

import argparse
import json
import random
import subprocess
import tempfile

import peer_process

PEER = f"{peer_process.HERE}/peers/tensorflow_data.py"

# By name: the peer's kind of file, and what it has to know of it; examples.
FILES = {"CSV, 16 measurements": ("csv", "17", 100_000),
         "CSV, 784 pixels": ("csv", "785", 10_000),
         "TFRecord, 16 numbers": ("tfrecord", "floats", 100_000),
         "TFRecord, 784 pixels": ("tfrecord", "pixels", 50_000)}


def write_csv(path, rows, columns):
    chance = random.Random(1)
    is_table = columns < 100
    with open(path, "w", encoding="utf-8") as file:
        print(",".join(["y"] + [f"x{i}" for i in range(1, columns)]), file=file)
        for _ in range(rows):
            values = ([f"{chance.gauss(0, 10):.4g}" for _ in range(columns - 1)] if is_table else
                      [str(max(0, chance.randrange(-255, 256))) for _ in range(columns - 1)])
            print(",".join([str(chance.randrange(10))] + values), file=file)


def run(*command):
    finished = subprocess.run(command, env=peer_process.peer_environment(), stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=peer_process.TIMEOUT_SECONDS,
                              check=True, text=True)
    return finished.stdout


def dataset(kind, what, path):
    if kind == "csv":
        return f"{{csv: {{file: {path}, labels: y}}}}"
    return f"{{tfrecord: {{file: {path}, features: {what}, labels: label}}}}"


def compare(arguments, kind, what, path):
    """Rates of each run, in examples a second of CPU, by their names."""
    rates = {"tf.data": [], "ours": [], "ours, shuffled": [], "ours, with opening": []}
    for _ in range(arguments.pairs):
        ours = json.loads(run(arguments.benchmark, dataset(kind, what, path)))
        theirs = json.loads(run(arguments.tensorflow_python, PEER, kind, path, what))
        seconds = {"tf.data": min(theirs.values()), "ours": ours["pass_seconds"],
                   "ours, shuffled": ours["shuffled_seconds"],
                   "ours, with opening": ours["pass_seconds"] + ours["open_seconds"]}
        for name, each in seconds.items():
            rates[name].append(ours["examples"] / each)
    return rates


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow-python", required=True, help="Python with tensorflow-cpu")
    parser.add_argument("--benchmark", default=f"{peer_process.ROOT}/build/release/bin/source_benchmark")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--only", default="", help="files whose names begin so")
    arguments = parser.parse_args()

    print(f"Median (quartiles) of {arguments.pairs} interleaved pairs\n")
    print("| file | reader | examples a second of CPU | ratio |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, (kind, what, count) in FILES.items():
            if not name.startswith(arguments.only):
                continue
            path = f"{folder}/{what}.{kind}"
            if kind == "csv":
                write_csv(path, count, int(what))
            else:
                run(arguments.tensorflow_python, PEER, kind, path, what, "--write", str(count))
            rates = compare(arguments, kind, what, path)
            for reader, values in rates.items():
                ratios = [a / b for a, b in zip(values, rates["tf.data"])]
                print(f"| {name} | {reader} | {peer_process.describe(values)} | "
                      f"{peer_process.describe(ratios)} |")


if __name__ == "__main__":
    main()
