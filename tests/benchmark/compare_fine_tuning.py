"""Fine-tuning MobileNetV2 on JPEGs of 160 x 160, the whole job, against TensorFlow.

    compare_fine_tuning.py --tensorflow-python VENV/bin/python [--pairs 5] [--images 512] [--only all]

Ours is deploy/jobs/cats_and_dogs.yaml, of which one phase at a time is run. The images are those
of compare_images.py, in two classes. TensorFlow runs by one replica, without and with XLA, and
under MirroredStrategy, without it, since XLA takes the variables of one device alone; the fastest
of these in a first run is what is compared with. A rate is that of the median epoch, without the
first.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import compare_images
import peer_process

JOB = f"{peer_process.ROOT}/deploy/jobs/cats_and_dogs.yaml"
PEER = f"{peer_process.HERE}/peers/tensorflow_fine_tuning.py"
SIDE = 160
BATCH_SIZE = 32
EPOCHS = 4

# What is trained, and how the job's phase says it.
PARTS = {"all": "trainable: [base]", "head": "frozen: [base]"}
WAYS = [("single", "plain"), ("single", "xla"), ("mirrored", "plain")]


def our_rate(coordinator, part, folder, devices):
    settings = {
        "devices": devices, "model.layers[2].Model.path": f"{folder}/base.keras",
        "data.train.images": f"{{folder: {folder}/images, label_mode: binary, image_size: {SIDE}}}",
        "data.validation": "null", "global_batch_size": BATCH_SIZE, "checkpoint": "null",
        "optimizer.Adam.learning_rate": 1e-4,
        "phases": f"[{{name: {part}, {PARTS[part]}, epochs: {EPOCHS}}}]",
    }
    with tempfile.TemporaryDirectory() as output:
        subprocess.run([coordinator, "run", JOB, "--output", output,
                        *(f"--set={path}={value}" for path, value in settings.items())],
                       stdout=subprocess.DEVNULL, timeout=peer_process.TIMEOUT_SECONDS, check=True)
        with open(f"{output}/result.json", encoding="utf-8") as file:
            return json.load(file)["timing"]["examples_per_second"]


def their_rate(python, way, part, folder):
    return compare_images.run(python, PEER, *way, part, f"{folder}/images", SIDE, BATCH_SIZE, EPOCHS)


def compare(arguments, part, folder):
    """The rates of both of ours, and of the fastest way of TensorFlow's; and that way."""
    ways = {way: their_rate(arguments.tensorflow_python, way, part, folder) for way in WAYS}
    print(f"{part}: {ways}", file=sys.stderr)
    fastest = max(ways, key=ways.get)
    rates = {"ours, a replica": [], "ours, two replicas": [], f"TensorFlow, {', '.join(fastest)}": []}
    for _ in range(arguments.pairs):
        one, two, theirs = rates.values()
        one.append(our_rate(arguments.coordinator, part, folder, devices=1))
        theirs.append(their_rate(arguments.tensorflow_python, fastest, part, folder))
        two.append(our_rate(arguments.coordinator, part, folder, devices=2))
    return rates


def write_files(arguments, folder):
    compare_images.write(arguments.tensorflow_python, f"{folder}/images", arguments.images, classes=2)
    subprocess.run([arguments.tensorflow_python, PEER, "save", f"{folder}/base.keras", str(SIDE)],
                   env=peer_process.peer_environment(), stderr=subprocess.DEVNULL,
                   timeout=peer_process.TIMEOUT_SECONDS, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow-python", required=True, help="Python with tensorflow-cpu")
    parser.add_argument("--coordinator", default=f"{peer_process.ROOT}/build/release/bin/coordinator")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--images", type=int, default=512)
    parser.add_argument("--only", choices=PARTS)
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        write_files(arguments, folder)
        print(f"Median (quartiles) of {arguments.pairs} interleaved runs on {os.cpu_count()} cores\n")
        print("| trained | | images a second | over TensorFlow |\n|---|---|---|---|")
        for part in [arguments.only] if arguments.only else PARTS:
            rates = compare(arguments, part, folder)
            theirs = list(rates.values())[-1]
            for name, values in rates.items():
                ratios = [ours / other for ours, other in zip(values, theirs)]
                print(f"| {part} | {name} | {peer_process.describe(values)} | "
                      f"{peer_process.describe(ratios)} |", flush=True)


if __name__ == "__main__":
    main()
