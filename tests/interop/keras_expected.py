"""Writes keras_expected.json: what Keras computes, for the tests to compare with.

    python -m venv venv && venv/bin/pip install -r tests/interop/requirements.txt
    venv/bin/python tests/interop/keras_expected.py [--check]

Inputs are made of a small formula (`ramp`), so that only results and the
formula's arguments are stored; the tests compute the same inputs in C++.
"""

import json
import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
import numpy as np
import tensorflow as tf

import expected_file
from keras_layers import layer_cases
from keras_losses import loss_cases
from keras_masks import mask_cases
from keras_metrics import metric_cases
from keras_models import make_layer, model_case
from keras_optimizers import clipping, numbers, optimizers, schedules
from keras_outputs import several_outputs

KERAS_VERSION = "3.15.1"


# --- Models -------------------------------------------------------------------


ACTIVATIONS = [
    "linear", "relu", "relu6", "leaky_relu", "elu", "celu", "selu", "sigmoid",
    "hard_sigmoid", "log_sigmoid", "tanh", "hard_tanh", "tanh_shrink",
    "hard_shrink", "soft_shrink", "softplus", "softsign", "silu", "swish",
    "hard_silu", "hard_swish", "gelu", "mish", "exponential", "squareplus",
    "sparse_plus", "sparse_sigmoid", "softmax", "log_softmax",
]  # fmt: skip


def activation_cases():
    return [
        model_case(
            f"activation_{name}", [4],
            [{"Dense": {"units": 7}}, {"Activation": {"activation": name}}],
            "mse", "values", scale=4.0,
        )
        for name in ACTIVATIONS
    ]  # fmt: skip


# Where the derivative jumps, with numbers between.
BENDS = [-6.0, -3.0, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 3.0, 5.0, 6.0, 7.0]


def bend_case(layer):
    """The derivative of an elementwise layer at BENDS."""
    x = tf.constant([BENDS], tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = make_layer(layer)(x)
    return {
        "layer": layer,
        "inputs": BENDS,
        "derivatives": numbers(tape.gradient(y, x)),
    }


def bends():
    elementwise = [name for name in ACTIVATIONS if not name.endswith("softmax")]
    rectifiers = [
        {},
        {"max_value": 5.0},
        {"max_value": 6.0},
        {"negative_slope": 0.25},
        {"threshold": 0.5},
        {"max_value": 5.0, "negative_slope": 0.25, "threshold": 0.5},
    ]
    return [
        *[bend_case({"Activation": {"activation": name}}) for name in elementwise],
        *[bend_case({"ReLU": config}) for config in rectifiers],
        *[bend_case({"LeakyReLU": config}) for config in ({}, {"negative_slope": 0.0})],
        *[bend_case({"ELU": config}) for config in ({}, {"alpha": 0.5}, {"alpha": -2.0})],
    ]


def graph_cases():
    def case(name, *layers):
        return model_case(name, [4, 3, 2], list(layers), "mse", "values")

    def conv(name, *inputs, **config):
        entry = {"Conv2D": {"filters": 2, "kernel_size": 1, "name": name, **config}}
        return {**entry, "inputs": list(inputs)} if inputs else entry

    def merge(class_name, *inputs, **config):
        return {class_name: config, "inputs": list(inputs)}

    sides = [conv("a"), conv("b", "input_layer", activation="relu")]
    return [
        case("add", *sides, merge("Add", "a", "b", "input_layer")),
        case("multiply", *sides, merge("Multiply", "a", "b", "a")),
        case("average", *sides, merge("Average", "a", "b", "input_layer")),
        case("maximum", *sides, merge("Maximum", "b", "a", "input_layer")),
        case("minimum", *sides, merge("Minimum", "b", "a", "input_layer")),
        case("subtract", *sides, merge("Subtract", "a", "b")),
        # All variables are 0, and the first of equal elements gets the gradient.
        model_case(
            "maximum_of_equal_ones", [4, 3, 2],
            [conv("a"), conv("b", "input_layer"), merge("Maximum", "b", "a", name="most"),
             merge("Minimum", "b", "a", name="least"), merge("Add", "most", "least")],
            "mse", "values", scale=0.0,
        ),
        case(
            "multiply_broadcast", conv("a"),
            {"GlobalAveragePooling2D": {"name": "mean"}},
            {"Dense": {"units": 2, "activation": "sigmoid"}},
            {"Reshape": {"target_shape": [1, 1, 2], "name": "e"}},
            merge("Multiply", "a", "e", "mean"),
        ),
        case(
            "add_broadcast", conv("a", kernel_size=[4, 1]),
            conv("b", "input_layer", kernel_size=[1, 3], filters=1),
            merge("Add", "a", "b"),
        ),
        case(
            "merge_broadcast", conv("a", kernel_size=[4, 1]),
            conv("b", "input_layer", kernel_size=[1, 3], filters=1),
            {"GlobalAveragePooling2D": {"name": "mean"}, "inputs": ["a"]},
            merge("Maximum", "a", "b", "mean", name="most"),
            merge("Minimum", "mean", "a", "b", name="least"),
            merge("Average", "b", "mean", "most", name="middle"),
            merge("Subtract", "middle", "least"),
        ),
        case("concatenate", *sides, merge("Concatenate", "a", "input_layer", "b")),
        case("dot", *sides, merge("Dot", "a", "b", axes=2)),
        case("dot_axes", conv("a", filters=3), *sides[1:], merge("Dot", "b", "a", axes=[2, -1])),
        case(
            "dot_normalized", *sides, {"GlobalAveragePooling2D": {"name": "mean"}},
            merge("Dot", "a", "mean", axes=-1, normalize=True),
        ),
        case(
            "dot_of_vectors", *sides, {"GlobalAveragePooling2D": {"name": "mean"}},
            {"GlobalMaxPooling2D": {"name": "most"}, "inputs": ["a"]},
            merge("Dot", "most", "mean", axes=1),
        ),
        case("concatenate_axis", *sides, merge("Concatenate", "b", "a", axis=1)),
        case(
            "residual", conv("a", activation="relu"), conv("b", use_bias=False),
            {"BatchNormalization": {"name": "c"}}, merge("Add", "c", "a"), {"ReLU": {}},
            {"GlobalAveragePooling2D": {}}, {"Dense": {"units": 3}},
        ),
    ]  # fmt: skip


def attention_cases():
    """A query of 5 steps, and values of 7.

    Softmax does not see a number that is added to all scores of a query. So the gradient of a
    key's bias is 0 but for its penalty, and Keras' is the noise of its rounding.
    """
    sides = [
        {"Dense": {"units": 6, "use_bias": False, "name": "wide"}, "inputs": ["input_layer"]},
        {"Conv1D": {"filters": 4, "kernel_size": 3, "name": "query"}, "inputs": ["input_layer"]},
        {"Conv1D": {"filters": 3, "kernel_size": 1, "name": "value"}, "inputs": ["input_layer"]},
    ]

    def case(name, inputs, **config):
        attention = {"MultiHeadAttention": {"num_heads": 2, "key_dim": 3, **config}, "inputs": inputs}
        return model_case(f"attention_{name}", [7, 2], [*sides_of(inputs), attention], "mse", "values")

    def sides_of(inputs):
        return [each for each in sides if next(iter(each.values()))["name"] in inputs]

    def given(name, inputs, masks, **config):
        """Masks are outputs of layers, of whose elements about half are 0."""
        attention = {"num_heads": 2, "key_dim": 3, "use_bias": False, "mask_inputs": list(masks), **config}
        makers = []
        for keyword, layers in masks.items():
            first, *others = [{k: dict(v) for k, v in each.items()} for each in layers]
            first["inputs"] = ["input_layer"]
            makers += [first, *others]
            next(iter(makers[-1].values()))["name"] = keyword
        entry = {"MultiHeadAttention": attention, "inputs": [*inputs, *masks]}
        return model_case(f"attention_{name}", [7, 2], [*sides_of(inputs), *makers, entry], "mse", "values")

    def rectified(units):
        return {"Dense": {"units": units, "activation": "relu"}}

    def bits(kernel_size):
        convolution = {"filters": 1, "kernel_size": kernel_size, "activation": "relu"}
        return [{"Conv1D": convolution}, {"Flatten": {}}]

    return [
        case("of_one", ["query", "query"], use_bias=False),
        case("causal", ["wide", "wide"], use_bias=False, use_causal_mask=True),
        case("of_two", ["query", "value"], kernel_regularizer="l2", bias_regularizer="l2"),
        case(
            "of_three", ["query", "value", "wide"], use_bias=False, value_dim=5, output_shape=8,
            attention_axes=1,
        ),
        case("causal_of_two", ["query", "value"], use_bias=False, use_causal_mask=True),
        given("mask", ["wide", "wide"], {"attention_mask": [rectified(7)]}),
        given("mask_causal", ["wide", "wide"], {"attention_mask": [rectified(7)]}, use_causal_mask=True),
        given(
            "mask_of_keys", ["query", "value"],
            {"attention_mask": [{"Conv1D": {"filters": 7, "kernel_size": 7, "activation": "relu"}}]},
        ),
        given(
            "mask_of_heads", ["wide", "wide"],
            {"attention_mask": [rectified(14), {"Reshape": {"target_shape": [2, 7, 7]}}]},
        ),
        given(
            "masks", ["query", "value", "wide"],
            {"attention_mask": [{"Conv1D": {"filters": 7, "kernel_size": 3, "activation": "relu"}}],
             "key_mask": bits(1), "query_mask": bits(3), "value_mask": bits(1)},
        ),
        given("masks_of_two", ["query", "value"], {"key_mask": bits(1)}),
    ]  # fmt: skip


def network_case():
    return model_case(
        "network", [9, 9, 1],
        [
            {"Conv2D": {"filters": 4, "kernel_size": 3, "activation": "relu"}},
            {"MaxPooling2D": {}},
            {"Flatten": {}},
            {"Dense": {"units": 6, "activation": "relu"}},
            {"Dense": {"units": 5}},
        ],
        {"SparseCategoricalCrossentropy": {"from_logits": True}}, "sparse",
        ["accuracy"], batch=4,
    )  # fmt: skip


# --- Initializers -------------------------------------------------------------


def initializer_case(class_name, config):
    """What 24000 values of an initializer look like."""
    shape = [20, 30, 40]
    initializer = getattr(keras.initializers, class_name)(seed=1, **config)
    values = np.asarray(initializer(shape), np.float64)
    return {
        "class_name": class_name,
        "config": config,
        "shape": shape,
        "mean": float(values.mean()),
        "stddev": float(values.std()),
        "largest": float(np.abs(values).max()),
    }


def initializers():
    named = ["Glorot", "He", "Lecun"]
    cases = [(n + d, {}) for n in named for d in ("Uniform", "Normal")]
    cases += [
        ("RandomUniform", {}),
        ("RandomUniform", {"minval": 1.0, "maxval": 3.0}),
        ("RandomNormal", {}),
        ("RandomNormal", {"mean": 1.0, "stddev": 0.5}),
        ("TruncatedNormal", {}),
        ("Orthogonal", {"gain": 2.0}),
        ("VarianceScaling", {"scale": 3.0, "mode": "fan_out", "distribution": "uniform"}),
        ("VarianceScaling", {"distribution": "untruncated_normal", "mode": "fan_avg"}),
    ]
    return [initializer_case(*case) for case in cases]


def make_text():
    assert keras.__version__ == KERAS_VERSION, keras.__version__
    expected = {
        "keras_version": KERAS_VERSION,
        "optimizers": optimizers(),
        "schedules": schedules(),
        "clipping": clipping(),
        "initializers": initializers(),
        "bends": bends(),
        "several_outputs": several_outputs(),
        "models": [
            *layer_cases(),
            *graph_cases(),
            *attention_cases(),
            *mask_cases(),
            *activation_cases(),
            *loss_cases(),
            *metric_cases(),
            network_case(),
        ],
    }
    lines = ",\n".join(
        f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}"
        for key, value in expected.items()
    )
    return "{\n" + lines + "\n}\n"


if __name__ == "__main__":
    expected_file.main("keras_expected.json", make_text)
