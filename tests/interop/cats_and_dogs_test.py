"""The job of the tutorial on transfer learning, beside the real Keras.

    python3 cats_and_dogs_test.py BINARIES

Keras makes the base, MobileNetV2 without its top, and trains it on eight classes of Fashion-MNIST.
deploy/jobs/cats_and_dogs.yaml then takes it to the other two, in a folder of JPEG files, at a small
size, and Keras loads what the job writes.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

# First, since it says on what TensorFlow runs.
from both_sides import columns, fashion_mnist

import keras
import numpy as np
import tensorflow as tf

JOB = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "jobs" / "cats_and_dogs.yaml"
SIZE = 32
IMAGES = 400
CLASSES = {0: "Cat", 1: "Dog"}  # T-shirts and trousers


def pictures(images, size):
    """In colour, as large as the model wants them, from 0 to 255."""
    return tf.image.resize(np.repeat(255 * images, 3, axis=-1), (size, size)).numpy()


def make_base(path, images, labels, size=SIZE, alpha=0.35):
    """Trains a base on these classes."""
    keras.utils.set_random_seed(1)
    base = keras.applications.MobileNetV2((size, size, 3), alpha=alpha, include_top=False, weights=None)
    for layer in base.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.momentum = 0.9  # since there are few steps
    head = [keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(10)]
    model = keras.Sequential([base, *head])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(pictures(images, size) / 127.5 - 1, labels, batch_size=32, epochs=3, verbose=0)
    base.save(path)


def write_images(folder, images, labels, size=SIZE, classes=None):
    """A folder of JPEG files for each class, by its name."""
    for label, name in (classes or CLASSES).items():
        (folder / name).mkdir(parents=True)
        for i, picture in enumerate(pictures(images[labels == label], size)):
            data = tf.io.encode_jpeg(tf.cast(picture, tf.uint8), quality=95)
            tf.io.write_file(str(folder / name / f"{i}.jpg"), data)


def coordinator(binaries, *arguments):
    command = [binaries / "coordinator", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr}"


def run_job(binaries, folder, output):
    settings = {
        "model.layers[0].Input.shape": [SIZE, SIZE, 3],
        "model.layers[2].Model.path": str(folder / "base.keras"),
        "global_batch_size": 16,
        "phases[1].epochs": 12,
    }
    for part in ("train", "validation"):
        settings[f"data.{part}.images.folder"] = str(folder / "PetImages")
        settings[f"data.{part}.images.image_size"] = SIZE
    changes = [f"--set={path}={json.dumps(value)}" for path, value in settings.items()]
    coordinator(binaries, "run", JOB, "--output", output, *changes)


def weights_of_base(path):
    return keras.models.load_model(path).get_layer("base").get_weights()


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        output = folder / "out"
        images, labels = fashion_mnist(5 * IMAGES)
        others = labels > 1
        make_base(folder / "base.keras", images[others], labels[others])
        write_images(folder / "PetImages", images, labels)
        run_job(binaries, folder, output)

        result = json.loads((output / "result.json").read_text())
        assert result["state"] == "SUCCEEDED", result
        head, tune = (columns(path / "history.csv") for path in (output / "phases" / "head", output))
        assert list(head["epoch"]) == list(range(10)) and list(tune["epoch"]) == [10, 11], (head, tune)
        # From the rate of one replica towards that of two, but for float32.
        np.testing.assert_allclose(head["learning_rate"][:7], 1e-3 * np.array([1, 1.2, 1.4, 1.6, 1.8, 2, 2]), rtol=1e-6)
        np.testing.assert_allclose(tune["learning_rate"], 2e-5, rtol=1e-6)
        # The base has learned little, but more than chance.
        assert head["val_accuracy"][-1] > 0.65, head
        assert tune["loss"][-1] < tune["loss"][0], tune

        step = max((output / "phases" / "head" / "checkpoint").iterdir())
        coordinator(binaries, "export", step, "--format", "keras", "--output", folder / "head.keras")
        given = keras.models.load_model(folder / "base.keras").get_weights()
        of_head, of_tune = (weights_of_base(path) for path in (folder / "head.keras", output / "model.keras"))
        assert all(np.array_equal(*pair) for pair in zip(of_head, given)), "head has changed the base"
        assert not any(np.array_equal(*pair) for pair in zip(of_tune, given)), "tune has not changed all of the base"

        validation = keras.utils.image_dataset_from_directory(
            folder / "PetImages", label_mode="binary", image_size=(SIZE, SIZE), validation_split=0.2,
            subset="validation", seed=1, verbose=False)
        model = keras.models.load_model(output / "model.keras")
        theirs = model.evaluate(validation, verbose=0, return_dict=True)
        for name, value in theirs.items():
            np.testing.assert_allclose(tune[f"val_{name}"][-1], value, rtol=1e-4, err_msg=name)
        print(f"accuracy of the validation images: {head['val_accuracy'][-1]:.3f} with the head, "
              f"{tune['val_accuracy'][-1]:.3f} with all, and in Keras")


if __name__ == "__main__":
    main()
