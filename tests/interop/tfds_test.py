"""Jobs on data sets as TensorFlow Datasets prepares them, beside its own reader and Keras.

    python3 tfds_test.py BINARIES

tensorflow_datasets prepares pictures of Fashion-MNIST in several shards: as PNG of one size, and as
JPEG of different sizes, beside features that no model reads. A job predicts by a model that returns
its input, so its predictions are the pixels; they must be those of `as_dataset`. Then Keras and a job
train on the same folders, in the same order, and must have the same losses.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

# First, since it says on what TensorFlow runs.
from both_sides import columns, fashion_mnist, run_job

import keras
import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds
from etils import epath
from keras import layers

COUNTS = {"train": 160, "test": 64}
SHARDS = 3
BATCH = 32
SIDE = 14
CLASSES = ["top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"]


def pictures():
    """Of each split: pictures (28, 28, 1) of uint8, and labels."""
    images, labels = fashion_mnist(sum(COUNTS.values()))
    images = np.rint(images * 255).astype(np.uint8)
    first = COUNTS["train"]
    return {"train": (images[:first], labels[:first]), "test": (images[first:], labels[first:])}


class FashionPictures(tfds.core.GeneratorBasedBuilder, skip_registration=True):
    """What both data sets have: supervised keys, and features beside them."""

    VERSION = tfds.core.Version("1.0.0")
    # Of checksums of downloads, which there are none of.
    pkg_dir_path = epath.Path(__file__).parent
    IMAGE = None

    def _info(self):
        features = tfds.features.FeaturesDict({
            "image": self.IMAGE,
            "label": tfds.features.ClassLabel(names=CLASSES),
            "name": tfds.features.Text(),
            "boxes": tfds.features.Sequence(np.float32),
        })
        return tfds.core.DatasetInfo(builder=self, features=features, supervised_keys=("image", "label"))

    def _split_generators(self, dl_manager):
        return {split: self._generate_examples(*of_split) for split, of_split in pictures().items()}

    def _generate_examples(self, images, labels):
        for i, (image, label) in enumerate(zip(images, labels)):
            yield i, {"image": self.picture(i, image), "label": int(label), "name": f"picture {i}",
                      "boxes": np.arange(i % 4, dtype=np.float32)}


class FashionPng(FashionPictures):
    """Pictures of one size."""

    IMAGE = tfds.features.Image(shape=(28, 28, 1), encoding_format="png")

    def picture(self, i, image):
        return image


class FashionJpeg(FashionPictures):
    """Colour pictures of many sizes."""

    IMAGE = tfds.features.Image(shape=(None, None, 3), encoding_format="jpeg")

    def picture(self, i, image):
        size = (20 + i % 13, 20 + i % 7)
        image = tf.image.resize(np.repeat(image, 3, axis=2), size).numpy()
        return np.clip(image + [0, i % 50, -(i % 30)], 0, 255).astype(np.uint8)


def prepare(builder_class, folder):
    builder = builder_class(data_dir=folder)
    config = tfds.download.DownloadConfig(num_shards=SHARDS)
    builder.download_and_prepare(download_config=config)
    shards = list(pathlib.Path(builder.data_path).glob("*train.tfrecord*"))
    assert len(shards) == SHARDS, shards
    return builder


def read(builder, split, size):
    """As tfds reads it, in the order of the files; resized as a job does it."""
    config = tfds.ReadConfig(interleave_cycle_length=1)
    examples = builder.as_dataset(split=split, as_supervised=True, shuffle_files=False, read_config=config)
    images, labels = [], []
    for image, label in examples:
        images.append(tf.image.resize(tf.cast(image, tf.float32), size).numpy())
        labels.append(int(label))
    return np.array(images), np.array(labels)


def source(builder, split, size):
    tfds_source = {"folder": str(builder.data_path), "split": split}
    if builder.info.features["image"].shape != (*size, builder.info.features["image"].shape[-1]):
        tfds_source["features"] = {"feature": "image", "image_size": list(size)}
    return {"tfds": tfds_source}


def same_as_input(folder, shape):
    """The file of a model that returns its flattened input."""
    values = int(np.prod(shape))
    model = keras.Sequential([keras.Input(shape), layers.Flatten(), layers.Dense(values)])
    model.layers[-1].set_weights([np.eye(values), np.zeros(values)])
    path = folder / "same.keras"
    model.save(path)
    return path


def compare_pixels(binaries, folder, builder, size):
    for split in COUNTS:
        images, _ = read(builder, split, size)
        model = same_as_input(folder, images.shape[1:])
        data = source(builder, split, size)
        job = {"strategy": "mirrored", "model": str(model), "loss": "MeanSquaredError", "optimizer": "SGD",
               "global_batch_size": BATCH, "device": "cpu", "data": {"train": data, "test": data}}
        (folder / "pixels.json").write_text(json.dumps(job))
        output = folder / "pixels.npy"
        output.unlink(missing_ok=True)
        done = subprocess.run([binaries / "coordinator", "predict", model, "--job", folder / "pixels.json",
                               "--output", output], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        ours = np.load(output)
        off = np.abs(ours - images.reshape(len(images), -1)).max()
        assert len(ours) == COUNTS[split] and off < 1e-3, f"{builder.name} {split}: {len(ours)} pictures, {off}"
        print(f"{builder.name} {split}: {len(ours)} pictures as tfds reads them, to {off:.1e} of 255")


def make_model(shape):
    keras.utils.set_random_seed(5)
    model = keras.Sequential([
        keras.Input(shape),
        layers.Rescaling(1 / 255),
        layers.Conv2D(4, 3, strides=2, activation="tanh"),
        layers.Flatten(),
        layers.Dense(len(CLASSES)),
    ])
    model.compile(keras.optimizers.SGD(1 / 16), keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    return model


def compare_training(binaries, folder, builder, size):
    images, labels = read(builder, "train", size)
    model = make_model(images.shape[1:])
    model.save(folder / "start.keras")
    history = model.fit(images, labels, batch_size=BATCH, epochs=2, shuffle=False, verbose=0).history
    expected = model.evaluate(*read(builder, "test", size), batch_size=BATCH, verbose=0)
    job = {"strategy": "mirrored", "model": "start.keras", "epochs": 2, "global_batch_size": BATCH,
           "data": {split: source(builder, split, size) for split in COUNTS}}
    output = run_job(binaries, folder, f"job_{builder.name}", job)
    ours = columns(output / "history.csv")
    for name, column in history.items():
        np.testing.assert_allclose(ours[name], column, rtol=1e-4, err_msg=f"{builder.name}: {name}")
    tested = json.loads((output / "result.json").read_text())["evaluation"]
    np.testing.assert_allclose([tested["loss"], tested["accuracy"]], expected, rtol=1e-4,
                               err_msg=builder.name)
    print(f"{builder.name}: test loss {expected[0]:.5f} after 2 epochs, as in Keras")


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve()
    tfds.disable_progress_bar()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for builder_class, size in ((FashionPng, (28, 28)), (FashionJpeg, (SIDE, SIDE))):
            builder = prepare(builder_class, folder)
            compare_pixels(binaries, folder, builder, size)
            compare_training(binaries, folder, builder, size)


if __name__ == "__main__":
    main()
