"""Writes tensor_board_expected.json: how Keras' TensorBoard draws weights.

    python -m venv venv && venv/bin/pip install -r tests/interop/requirements.txt
    venv/bin/python tests/interop/tensor_board_expected.py [--check]

Keras' own callback writes histograms and images of some weights, and TensorBoard reads them.
"""

import json
import os
import pathlib
import tempfile
import types

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
import numpy
import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import expected_file

KERAS_VERSION = "3.15.1"


def read_run(folder):
    """The series of a run of TensorBoard: plugin -> tag -> [(step, tensor)]."""
    events = EventAccumulator(str(folder), size_guidance={"tensors": 0})
    events.Reload()
    series = {}
    for tag in events.Tags()["tensors"]:
        plugin = events.SummaryMetadata(tag).plugin_data.plugin_name
        points = [(point.step, tf.make_ndarray(point.tensor_proto))
                  for point in events.Tensors(tag)]
        series.setdefault(plugin, {})[tag] = points
    return series


def picture(tensor):
    """Of an image summary: its size as texts, and the pixels of each image."""
    width, height, *images = tensor
    return {"width": int(width), "height": int(height),
            "images": [tf.io.decode_png(image).numpy().tolist() for image in images]}


def some(*shape):
    """Values from -0.25 on to 1.25, also such as have no exact byte."""
    count = int(numpy.prod(shape))
    return (numpy.arange(count) * 37 % 101 / 101 * 1.5 - 0.25).reshape(shape)


def weights():
    rounded = [0.0, 1.0, 1 / 255, 1 / 255.5, 2 / 255.5, 0.5, 254.9 / 255.5, 0.999, 1.5, -1e-9, -3.0, 1e30]
    return {
        "vector": some(50),
        "one value": numpy.full(7, 0.75),
        "one element": numpy.array([0.3]),
        "a number": numpy.array(0.3),
        "zeros": numpy.zeros((4, 3)),
        "rounding": numpy.array(rounded),
        "edges of buckets": numpy.arange(31) / 30,
        "near each other": 1 + numpy.arange(9) * 2.0**-23,
        "wide": some(3, 8),
        "high": some(8, 3),
        "square": some(5, 5),
        "a row": some(1, 6),
        "three axes": some(2, 3, 5),
        "two images": some(4, 3, 2),
        "a kernel of one channel": some(3, 3, 1, 4),
        "a pointwise kernel": some(1, 1, 6, 4),
        "a kernel": some(3, 3, 2, 8),
        "in colours": some(5, 2, 4, 3),
        "with alpha": some(2, 2, 3, 4),
        "two channels": some(2, 3, 4, 2),
        "five axes": some(2, 2, 2, 2, 3),
    }


def make_cases(folder):
    variables = {name: keras.Variable(value, dtype="float32", name=name.replace(" ", "_"))
                 for name, value in weights().items()}
    layer = types.SimpleNamespace(weights=list(variables.values()))
    callback = keras.callbacks.TensorBoard(folder, histogram_freq=1, write_graph=False,
                                           write_images=True)
    callback.set_model(types.SimpleNamespace(layers=[layer]))
    callback._log_weights(epoch=3)
    callback._close_writers()
    series = read_run(pathlib.Path(folder, "train"))
    cases = []
    for name, variable in variables.items():
        (step, buckets), = series["histograms"][f"{variable.path}/histogram"]
        assert step == 3, step
        image = series["images"].get(f"{variable.path}/image")
        cases.append({"name": name, "shape": list(variable.shape),
                      "values": variable.numpy().ravel().tolist(), "buckets": buckets.tolist(),
                      "picture": picture(image[0][1]) if image else None})
    return cases


def make_text():
    assert keras.__version__ == KERAS_VERSION, keras.__version__
    with tempfile.TemporaryDirectory() as folder:
        lines = ",\n".join(json.dumps(case) for case in make_cases(folder))
    return f'{{"keras": "{KERAS_VERSION}", "cases": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    expected_file.main("tensor_board_expected.json", make_text)
