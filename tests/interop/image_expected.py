"""Writes image_expected.json: how TensorFlow resizes and decodes images, and Keras reads folders.

    python -m venv venv && venv/bin/pip install -r tests/interop/requirements.txt
    venv/bin/python tests/interop/image_expected.py [--check]

The images to decode, in tests/unit/image/fixtures, are written by Pillow.
"""

import base64
import json
import os
import pathlib
import shutil
import tempfile

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
import numpy as np
import tensorflow as tf

import expected_file

METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian",
           "mitchellcubic")


def image(height, width, channels):
    """Pixels that a test can compute, too."""
    y, x, c = np.ogrid[:height, :width, :channels]
    return ((y * 37 + x * 101 + c * 53 + y * x * 7) % 256).astype(np.uint8)


def resized(method, source, target):
    made = tf.image.resize(image(*source), target, method=method)
    return {
        "method": method,
        "from": source,
        "to": target,
        "pixels": [round(float(value), 3) for value in tf.cast(made, tf.float32).numpy().ravel()],
    }


def decoded(path, channels):
    try:
        made = tf.io.decode_image(path.read_bytes(), channels=channels, expand_animations=False)
    except tf.errors.InvalidArgumentError:
        return {"file": path.name, "channels": channels, "error": True}
    return {
        "file": path.name,
        "channels": channels,
        "size": made.shape[:2].as_list(),
        "pixels": base64.b64encode(made.numpy().tobytes()).decode(),
    }


def folder_case(folder, options):
    """The files, in order, and the pixels and labels of all of them."""
    dataset = keras.utils.image_dataset_from_directory(
        folder, batch_size=None, image_size=(3, 4), verbose=False, **options
    )
    case = {
        "options": options,
        "files": [os.path.relpath(path, folder) for path in dataset.file_paths],
    }
    if not options.get("shuffle", True):
        pixels, labels = zip(*dataset)
        case["pixels"] = [[round(float(v), 3) for v in p.numpy().ravel()] for p in pixels]
        case["labels"] = [np.ravel(label).tolist() for label in labels]
    return case


def folder_cases(fixtures):
    """A test makes the same folder."""
    files = {
        "dogs": ["420.jpg", "gray.jpg", "rgb.png"],
        "cats": ["progressive.jpg", "Rotated.JPG", "rgba.png", "a/444.jpg", "a-b/422.jpg"],
        "birds": ["restart.jpg", "cmyk.jpg"],
    }
    with tempfile.TemporaryDirectory() as folder:
        for name in (f"{name}/{file}" for name in files for file in files[name]):
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(fixtures / path.name.lower(), path)
        pair = ["dogs", "cats"]
        split = {"validation_split": 0.35, "seed": 7}
        return [
            folder_case(folder, options)
            for options in (
                {"shuffle": False},
                {"shuffle": False, "label_mode": "categorical", "crop_to_aspect_ratio": True},
                {"shuffle": False, "label_mode": "binary", "class_names": pair,
                 "interpolation": "nearest"},
                {"shuffle": False, "validation_split": 0.35, "subset": "training"},
                {"shuffle": False, "validation_split": 0.35, "subset": "validation"},
                {**split, "subset": "training"},
                {**split, "subset": "validation"},
            )
        ]


def make_text():
    fixtures = pathlib.Path(__file__).parent.parent / "unit/image/fixtures"
    images = [
        decoded(path, channels)
        for path in sorted(fixtures.iterdir())
        for channels in (1, 3, 4)
    ]
    resizes = [
        resized(method, source, target)
        for method in METHODS
        for source, target in (
            ([7, 5, 3], [4, 4]),
            ([5, 6, 1], [9, 7]),
            ([1, 2, 4], [3, 1]),
            ([19, 23, 3], [3, 2]),
        )
    ]
    expected = {
        "tensorflow": tf.__version__,
        "resizes": resizes,
        "images": images,
        "folders": folder_cases(fixtures),
    }
    return json.dumps(expected) + "\n"


if __name__ == "__main__":
    expected_file.main("image_expected.json", make_text)
