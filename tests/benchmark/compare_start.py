"""The time from a Keras file of 98 MiB to the first training step, ours against Keras.

    compare_start.py --keras-python VENV/bin/python [--pairs 5]

Runs interleaved pairs on one machine, in one process of Keras, and in one worker under
`mirrored`: ResNet50 with random weights, 8 images of 64 x 64 a step. Ours counts from the
start of the coordinator until it learns that a step was taken. Keras counts once from the
start of Python, and once from load_model, without the imports.
"""

import argparse
import json
import subprocess
import tempfile

import peer_process


def run_ours(coordinator, folder):
    job = {
        "strategy": "mirrored",
        "model": "model.keras",
        "data": {"train": {"npz": {"file": "data.npz", "features": "x", "labels": "y"}}},
        "batch_size_per_replica": 8,
        "epochs": 1,
        "device": "cpu",
    }
    with open(f"{folder}/job.json", "w", encoding="utf-8") as file:
        json.dump(job, file)
    subprocess.run([coordinator, "run", f"{folder}/job.json", "--output", f"{folder}/out"],
                   stdout=subprocess.DEVNULL, timeout=peer_process.TIMEOUT_SECONDS, check=True)
    with open(f"{folder}/out/result.json", encoding="utf-8") as file:
        return json.load(file)["timing"]["first_step_seconds"]


def run_keras(python, command, folder):
    script = f"{peer_process.HERE}/peers/keras_start.py"
    finished = subprocess.run([python, script, command, f"{folder}/model.keras", f"{folder}/data.npz"],
                              env=peer_process.peer_environment(), stdout=subprocess.PIPE,
                              timeout=peer_process.TIMEOUT_SECONDS, check=True, text=True)
    return finished.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keras-python", required=True, help="Python with keras 3 and tensorflow-cpu")
    parser.add_argument("--coordinator",
                        default=f"{peer_process.ROOT}/build/release/bin/coordinator")
    parser.add_argument("--pairs", type=int, default=5)
    arguments = parser.parse_args()

    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        run_keras(arguments.keras_python, "make", folder)
        for _ in range(arguments.pairs):
            ours.append(run_ours(arguments.coordinator, folder))
            theirs.append(json.loads(run_keras(arguments.keras_python, "run", folder)))
    print(f"Median (quartiles) of {arguments.pairs} interleaved pairs\n")
    print("| Keras counts | ours, s | Keras, s | ratio |\n|---|---|---|---|")
    for name in ("with_imports", "from_load_model"):
        keras = [run[name] for run in theirs]
        columns = [ours, keras, [a / b for a, b in zip(ours, keras)]]
        print(f"| {name.replace('_', ' ')} | {' | '.join(map(peer_process.describe, columns))} |")


if __name__ == "__main__":
    main()
