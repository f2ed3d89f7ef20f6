"""Images a second from a folder of JPEGs, on all cores: ours, tf.data's and torchvision's.

    compare_images.py --tensorflow-python VENV/bin/python [--torch-python VENV/bin/python]
                      [--pairs 5] [--images 1000] [--only plain] [--cpu]

The images are 500 x 375, made of Fashion-MNIST's and noise, 60 to 110 KB each, as those of
ImageNet are. Each run makes a pass that is not timed and one that is. Of each peer the
fastest of its ways counts (peers/tensorflow_images.py, peers/torch_images.py). With --cpu,
seconds are those of CPU of all threads, so that other work on the machine counts little; ours
reads with one thread then, and torchvision, which reads in processes, is left out.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile

import peer_process

FASHION_MNIST = "/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz"
SIDE = 224
BATCH_SIZE = 32

# What a job says of the steps.
STEPS = {"plain": (SIDE, ""),
         "augmented": (SIDE * 8 // 7,
                       f", steps: [RandomCrop: {{height: {SIDE}, width: {SIDE}}}, RandomFlip: {{mode: horizontal}}, "
                       "RandomZoom: {height_factor: 0.2, width_factor: 0.2}, RandomContrast: {factor: 0.2}]")}


def write_images(folder, count, classes):
    """Run by the peer's Python, which has an encoder."""
    import tensorflow as tf  # pylint: disable=import-outside-toplevel
    with gzip.open(FASHION_MNIST) as file:
        pixels = tf.reshape(tf.io.decode_raw(file.read()[16:16 + 784 * count], tf.uint8), [-1, 28, 28, 1])
    generator = tf.random.Generator.from_seed(1)
    for index in range(count):
        picture = tf.image.resize(tf.image.grayscale_to_rgb(pixels[index]), [375, 500], "bicubic")
        noise = (tf.image.resize(generator.normal([188, 250, 3], 0, 30), [375, 500]) +
                 generator.normal([375, 500, 3], 0, 6))
        image = tf.cast(tf.clip_by_value(picture * 0.7 + 40 + noise, 0, 255), tf.uint8)
        class_folder = f"{folder}/class_{index % classes}"
        os.makedirs(class_folder, exist_ok=True)
        tf.io.write_file(f"{class_folder}/{index:06}.jpg", tf.io.encode_jpeg(image, quality=92))


def write(tensorflow_python, folder, count, classes=10):
    """Writes so many images below `folder`, in folders of classes."""
    subprocess.run([tensorflow_python, __file__, "--tensorflow-python", "-", "--write", folder,
                    "--images", str(count), "--classes", str(classes)],
                   env=peer_process.peer_environment(), stderr=subprocess.DEVNULL,
                   timeout=peer_process.TIMEOUT_SECONDS, check=True)


def run(*command):
    finished = subprocess.run([str(part) for part in command], env=peer_process.peer_environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                              timeout=peer_process.TIMEOUT_SECONDS)
    if finished.returncode != 0:
        raise RuntimeError(f"{command}: {finished.stderr[-2000:]}")
    return json.loads(finished.stdout.splitlines()[-1])


def our_rate(arguments, kind, folder):
    side, steps = STEPS[kind]
    dataset = f"{{images: {{folder: {folder}, image_size: [{side}, {side}]}}{steps}}}"
    result = run(arguments.benchmark, dataset, BATCH_SIZE, 1 if arguments.cpu else os.cpu_count())
    return result["examples"] / result["cpu_seconds" if arguments.cpu else "seconds"]


def compare(arguments, kind, folder):
    """Rates of each run by reader."""
    rates = {"ours": [], "tf.data": []}
    peers = {"tf.data": (arguments.tensorflow_python, "tensorflow_images.py")}
    if arguments.torch_python and not arguments.cpu:
        rates["torchvision"] = []
        peers["torchvision"] = (arguments.torch_python, "torch_images.py")
    for _ in range(arguments.pairs):
        rates["ours"].append(our_rate(arguments, kind, folder))
        for name, (python, script) in peers.items():
            clock = [] if name == "torchvision" else ["cpu" if arguments.cpu else "seconds"]
            ways = run(python, f"{peer_process.HERE}/peers/{script}", kind, folder, SIDE, BATCH_SIZE, *clock)
            print(f"{kind}, {name}: {ways}", file=sys.stderr)
            rates[name].append(max(ways.values()))
    return rates


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow-python", required=True, help="Python with tensorflow-cpu")
    parser.add_argument("--torch-python", help="Python with torch and torchvision")
    parser.add_argument("--benchmark", default=f"{peer_process.ROOT}/build/release/bin/batch_benchmark")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--only", choices=STEPS, default=None)
    parser.add_argument("--cpu", action="store_true", help="seconds of CPU")
    parser.add_argument("--write", help=argparse.SUPPRESS)
    parser.add_argument("--classes", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.write:
        return write_images(arguments.write, arguments.images, arguments.classes)

    with tempfile.TemporaryDirectory() as folder:
        write(arguments.tensorflow_python, folder, arguments.images)
        print(f"Median (quartiles) of {arguments.pairs} interleaved runs\n")
        unit = "images a second of CPU" if arguments.cpu else "images a second"
        print(f"| work | reader | {unit} | ours over it |\n|---|---|---|---|")
        for kind in [arguments.only] if arguments.only else STEPS:
            rates = compare(arguments, kind, folder)
            for reader, values in rates.items():
                ratios = [ours / theirs for ours, theirs in zip(rates["ours"], values)]
                print(f"| {kind} | {reader} | {peer_process.describe(values)} | "
                      f"{peer_process.describe(ratios)} |", flush=True)
    return None


if __name__ == "__main__":
    main()
