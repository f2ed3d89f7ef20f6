"""Writes keras_expected.json: what Keras computes, for the tests to compare with.

    python -m venv venv && venv/bin/pip install keras==3.15.1 tensorflow-cpu==2.21.0
    venv/bin/python tests/interop/keras_expected.py

Inputs are made of a small formula (`ramp`), so that only results and the
formula's arguments are stored; the tests compute the same inputs in C++.
"""

import json
import os
import pathlib

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
import numpy as np

KERAS_VERSION = "3.15.1"


def numbers(array):
    """A flat list with the digits that float32 needs."""
    return [float(f"{x:.8g}") for x in np.asarray(array, np.float64).ravel()]


# --- Optimizers ---------------------------------------------------------------


def optimizer_case(class_name, config, steps=10):
    """Values of a variable of 6 elements after each of `steps` updates."""
    initial = np.array([0.5, -1.0, 2.0, 0.0, 1e-3, -3.0], np.float32)
    gradients = np.array(
        [
            [0.1 * np.sin(1.3 * t + e) * (10.0 ** (e - 3)) for e in range(6)]
            for t in range(steps)
        ],
        np.float32,
    )
    optimizer = getattr(keras.optimizers, class_name)(**config)
    variable = keras.Variable(initial)
    optimizer.build([variable])
    values = []
    for gradient in gradients:
        optimizer.apply_gradients([(keras.ops.convert_to_tensor(gradient), variable)])
        values.append(numbers(variable.numpy()))
    return {
        "class_name": class_name,
        "config": config,
        "initial": numbers(initial),
        "gradients": [numbers(g) for g in gradients],
        "values": values,
    }


def optimizers():
    return [
        optimizer_case("SGD", {}),
        optimizer_case("SGD", {"learning_rate": 0.1, "momentum": 0.9}),
        optimizer_case(
            "SGD", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True}
        ),
        optimizer_case("Adam", {}),
        optimizer_case(
            "Adam",
            {"learning_rate": 0.01, "beta_1": 0.8, "beta_2": 0.99, "epsilon": 1e-3},
        ),
        optimizer_case("Adam", {"amsgrad": True}),
        optimizer_case("SGD", {"weight_decay": 0.01, "momentum": 0.5}),
        optimizer_case("Adam", {"weight_decay": 0.01}),
    ]


def main():
    assert keras.__version__ == KERAS_VERSION, keras.__version__
    expected = {
        "keras_version": KERAS_VERSION,
        "optimizers": optimizers(),
    }
    lines = ",\n".join(
        f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}"
        for key, value in expected.items()
    )
    path = pathlib.Path(__file__).with_name("keras_expected.json")
    path.write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
