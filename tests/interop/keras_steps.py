"""Writes keras_steps.json: what Keras' preprocessing layers make of images.

    python -m venv venv && venv/bin/pip install -r tests/interop/requirements.txt
    venv/bin/python tests/interop/keras_steps.py [--check]

The images are made of a formula (`image`), as the tests make them in C++. Ranges with one
number in them leave random layers nothing to draw; where a layer takes no such range, it
gets what it would have drawn.
"""

import importlib
import json
import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
import numpy as np

import expected_file

KERAS_VERSION = "3.15.1"

# A height and a width that are even and odd, with colours and without.
SHAPES = [[7, 6, 3], [5, 8, 1]]
FILL_MODES = ["reflect", "wrap", "constant", "nearest"]
INTERPOLATIONS = ["nearest", "bilinear"]


def image(shape):
    """Values from 0 to 255."""
    index = np.arange(np.prod(shape), dtype=np.int64)
    return ((index * 2741 + 611) % 9973 / 9973 * 255).astype(np.float32).reshape(shape)


def numbers(values):
    return [float(f"{value:.7g}") for value in np.asarray(values).ravel()]


def case(step, shape, output, **drawn):
    return {"step": step, "shape": shape, "drawn": drawn,
            "output_shape": list(output.shape), "output": numbers(output)}  # fmt: skip


def layer_of(step):
    [(name, config)] = step.items()
    return getattr(keras.layers, name)(**config)


def applied(step, shape):
    return case(step, shape, layer_of(step)(image(shape), training=True))


def deterministic():
    steps = [
        {"Rescaling": {"scale": 1 / 255}},
        {"Rescaling": {"scale": 1 / 127.5, "offset": -1}},
        {"Normalization": {"mean": 127.0, "variance": 1000.0}},
        {"Normalization": {"mean": 127.0, "variance": 1000.0, "invert": True}},
        {"Normalization": {"mean": 3.0, "variance": 0.0}},
        {"CenterCrop": {"height": 4, "width": 3}},
        {"CenterCrop": {"height": 5, "width": 6}},
        {"CenterCrop": {"height": 9, "width": 4}},
        {"CenterCrop": {"height": 9, "width": 11}},
        {"RandomCrop": {"height": 5, "width": 6}},
        {"RandomCrop": {"height": 9, "width": 4}},
        {"RandomCrop": {"height": 6, "width": 9}},
    ]
    for step in steps:
        for shape in SHAPES:
            yield applied(step, shape)
    colors = {"mean": [120.0, 110.0, 100.0], "variance": [60.0, 70.0, 80.0]}
    yield applied({"Normalization": colors}, SHAPES[0])
    yield applied({"Rescaling": {"scale": [0.1, 0.2, 0.3], "offset": [1.0, 2.0, 3.0]}}, SHAPES[0])


def resized():
    for shape in SHAPES:
        for size in [(4, 4), (12, 9)]:
            step = {"height": size[0], "width": size[1]}
            for interpolation in ["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5"]:
                yield applied({"Resizing": step | {"interpolation": interpolation}}, shape)
            yield applied({"Resizing": step | {"crop_to_aspect_ratio": True}}, shape)
            padded = {"pad_to_aspect_ratio": True, "fill_value": 9.0}
            yield applied({"Resizing": step | padded}, shape)


def applications():
    models = ["convnext", "densenet", "efficientnet", "efficientnet_v2", "inception_resnet_v2",
              "inception_v3", "mobilenet", "mobilenet_v2", "mobilenet_v3", "nasnet", "resnet",
              "resnet50", "resnet_v2", "vgg16", "vgg19", "xception"]  # fmt: skip
    shape = [2, 3, 3]
    for model in models:
        module = importlib.import_module(f"keras.applications.{model}")
        yield case({"PreprocessInput": {"model": model}}, shape,
                   module.preprocess_input(image(shape)))  # fmt: skip
    utils = keras.applications.imagenet_utils
    for mode in ["caffe", "tf", "torch"]:
        yield case({"PreprocessInput": {"mode": mode}}, shape,
                   utils.preprocess_input(image(shape), mode=mode))  # fmt: skip


def moved():
    factors = [
        {"RandomRotation": {"factor": [0.07, 0.07]}},
        {"RandomRotation": {"factor": [-0.31, -0.31]}},
        {"RandomZoom": {"height_factor": [0.3, 0.3]}},
        {"RandomZoom": {"height_factor": [-0.4, -0.4], "width_factor": [0.45, 0.45]}},
        {"RandomTranslation": {"height_factor": [0.33, 0.33], "width_factor": [-0.47, -0.47]}},
        {"RandomTranslation": {"height_factor": [-1.0, -1.0], "width_factor": [0.9, 0.9]}},
    ]
    for shape in SHAPES:
        for factor in factors:
            [(name, config)] = factor.items()
            yield applied(factor, shape)
            for fill_mode in FILL_MODES:
                for interpolation in INTERPOLATIONS:
                    how = {"fill_mode": fill_mode, "interpolation": interpolation}
                    if fill_mode == "constant":
                        how["fill_value"] = 7.0
                    yield applied({name: config | how}, shape)


def drawn():
    for shape in SHAPES:
        for value_range in [[0, 255], [50, 150]]:
            step = {"RandomBrightness": {"factor": [0.3, 0.3], "value_range": value_range}}
            yield applied(step, shape)
            step = {"RandomContrast": {"factor": 0.5, "value_range": value_range}}
            for contrast in [0.4, 1.3]:
                output = layer_of(step).transform_images(
                    image(shape), {"contrast_factor": np.float32(contrast)})  # fmt: skip
                yield case(step, shape, output, contrast=contrast)
        for mode in ["horizontal", "vertical", "horizontal_and_vertical"]:
            step = {"RandomFlip": {"mode": mode}}
            output = layer_of(step).transform_images(image(shape), {"flips": True})
            yield case(step, shape, output, flips=True)


def make_text():
    assert keras.__version__ == KERAS_VERSION, keras.__version__
    cases = [*deterministic(), *resized(), *applications(), *moved(), *drawn()]
    return "[\n" + ",\n".join(json.dumps(each) for each in cases) + "\n]\n"


if __name__ == "__main__":
    expected_file.main("keras_steps.json", make_text)
