"""Rows of a CSV file in a second of CPU, ours against tf.data.

    compare_csv.py --tensorflow-python VENV/bin/python [--pairs 5]

Ours reads and converts all rows of a file to float32, in their order or shuffled; the
file is opened before, which takes one more look at it. TensorFlow's is the faster of
CsvDataset and of decode_csv on batches of lines. Time is that of all threads, so that
other work on the machine counts little.
"""

import argparse
import json
import random
import subprocess
import tempfile

import peer_process

# Rows, and columns with labels: measurements, and images of bytes.
FILES = {"16 measurements": (100_000, 17), "784 pixels": (10_000, 785)}


def write(path, rows, columns):
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
    return json.loads(finished.stdout)


def compare(arguments, path, columns):
    """Rates of each run, in rows a second of CPU, by their names."""
    rates = {"tf.data": [], "ours": [], "ours, shuffled": [], "ours, with opening": []}
    for _ in range(arguments.pairs):
        ours = run(arguments.benchmark, path, "y")
        theirs = run(arguments.tensorflow_python,
                     f"{peer_process.HERE}/peers/tensorflow_csv.py", path, str(columns))
        seconds = {"tf.data": min(theirs.values()), "ours": ours["pass_seconds"],
                   "ours, shuffled": ours["shuffled_seconds"],
                   "ours, with opening": ours["pass_seconds"] + ours["open_seconds"]}
        for name, each in seconds.items():
            rates[name].append(ours["rows"] / each)
    return rates


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow-python", required=True, help="Python with tensorflow-cpu")
    parser.add_argument("--benchmark", default=f"{peer_process.ROOT}/build/release/bin/csv_benchmark")
    parser.add_argument("--pairs", type=int, default=5)
    arguments = parser.parse_args()

    print(f"Median (quartiles) of {arguments.pairs} interleaved pairs\n")
    print("| columns | reader | rows a second of CPU | ratio |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, (rows, columns) in FILES.items():
            path = f"{folder}/{columns}.csv"
            write(path, rows, columns)
            rates = compare(arguments, path, columns)
            for reader, values in rates.items():
                ratios = [a / b for a, b in zip(values, rates["tf.data"])]
                print(f"| {name} | {reader} | {peer_process.describe(values)} | "
                      f"{peer_process.describe(ratios)} |")


if __name__ == "__main__":
    main()
