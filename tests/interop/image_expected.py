"""Writes image_expected.json: how TensorFlow resizes images.

    python -m venv venv && venv/bin/pip install -r tests/interop/requirements.txt
    venv/bin/python tests/interop/image_expected.py [--check]
"""

import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

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


def make_text():
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
    return json.dumps({"tensorflow": tf.__version__, "resizes": resizes}) + "\n"


if __name__ == "__main__":
    expected_file.main("image_expected.json", make_text)
