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
from keras_losses import loss_cases
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
    ]


def layer_cases():
    def case(name, shape, *layers):
        return model_case(name, shape, list(layers), "mse", "values")

    def conv(**config):
        return {"Conv2D": {"filters": 3, "kernel_size": 3, **config}}

    front = {"Conv2D": {"filters": 2, "kernel_size": 1}}
    image = [7, 6, 2]
    return [
        case("dense", [5], {"Dense": {"units": 4, "activation": "tanh"}}),
        case("dense_no_bias", [5], {"Dense": {"units": 4, "use_bias": False}}),
        case("dense_rows", [2, 5], {"Dense": {"units": 4, "activation": "softmax"}}),
        case("conv", image, conv(activation="relu")),
        case("conv_same", image, conv(padding="same")),
        case("conv_stride", image, conv(strides=2)),
        case("conv_same_stride", image, conv(padding="same", strides=[2, 3])),
        case("conv_even_kernel", image, conv(kernel_size=[2, 4], padding="same")),
        case("conv_dilated", image, conv(dilation_rate=2)),
        case("conv_same_dilated", image, conv(dilation_rate=[2, 1], padding="same")),
        case("conv_no_bias", image, conv(use_bias=False)),
        case("conv_grouped", image, conv(filters=4, groups=2)),
        case(
            "conv_grouped_same", image, conv(filters=6, kernel_size=1),
            conv(filters=9, groups=3, padding="same", strides=2),
        ),
        case("depthwise", image, {"DepthwiseConv2D": {"kernel_size": 3}}),
        case(
            "depthwise_multiplied", image, front,
            {"DepthwiseConv2D": {
                "kernel_size": [2, 3], "depth_multiplier": 3, "padding": "same",
                "activation": "relu6",
            }},
        ),
        case(
            "depthwise_stride", image, conv(kernel_size=1),
            {"DepthwiseConv2D": {
                "kernel_size": 3, "strides": 2, "padding": "same", "use_bias": False,
                "depthwise_regularizer": "l2",
            }},
        ),
        case(
            "depthwise_dilated", image, front,
            {"DepthwiseConv2D": {"kernel_size": 2, "dilation_rate": 2}},
        ),
        case(
            "separable", image, front,
            {"SeparableConv2D": {"filters": 3, "kernel_size": 3, "activation": "tanh"}},
        ),
        case(
            "separable_multiplied", image, front,
            {"SeparableConv2D": {
                "filters": 5, "kernel_size": 3, "depth_multiplier": 2, "strides": 2,
                "padding": "same", "use_bias": False,
            }},
        ),
        case("zero_padding", image, front, {"ZeroPadding2D": {}}, conv(strides=2)),
        case(
            "zero_padding_sides", image, front,
            {"ZeroPadding2D": {"padding": [[0, 1], [2, 3]]}}, conv(),
        ),
        case("zero_padding_axes", image, front, {"ZeroPadding2D": {"padding": [1, 2]}}),
        case("up_sampling", image, front, {"UpSampling2D": {}}),
        case("up_sampling_size", image, front, {"UpSampling2D": {"size": [3, 1]}}),
        case(
            "up_sampling_bilinear", image, front,
            {"UpSampling2D": {"size": [2, 3], "interpolation": "bilinear"}},
        ),
        case("rescaling", [5], {"Rescaling": {"scale": 0.5, "offset": -1.0}}, {"Dense": {"units": 3}}),
        case(
            "rescaling_channels", [2, 3], {"Dense": {"units": 3}},
            {"Rescaling": {"scale": [1.0, 2.0, -3.0], "offset": [0.5, 0.0, 1.0]}},
        ),
        case(
            "layer_normalization", [4, 5], {"Dense": {"units": 6}},
            {"LayerNormalization": {}}, {"Dense": {"units": 3}},
        ),
        case(
            "layer_normalization_axes", [4, 5], {"Dense": {"units": 6}},
            {"LayerNormalization": {"axis": [1, 2], "epsilon": 0.01, "center": False}},
            {"Dense": {"units": 3}},
        ),
        case(
            "group_normalization", [4, 3], {"Dense": {"units": 6}},
            {"GroupNormalization": {"groups": 2}}, {"Dense": {"units": 3}},
        ),
        case(
            "group_normalization_axis", [4, 5], {"Dense": {"units": 6}},
            {"GroupNormalization": {"groups": -1, "axis": 1, "epsilon": 0.01, "scale": False}},
            {"Dense": {"units": 3}},
        ),
        case(
            "embedding", [6], {"Embedding": {"input_dim": 9, "output_dim": 4}},
            {"Dense": {"units": 3}},
        ),
        case("max_pooling", image, front, {"MaxPooling2D": {}}),
        case("max_pooling_same", image, front, {"MaxPooling2D": {"padding": "same"}}),
        case(
            "max_pooling_overlap", image, front,
            {"MaxPooling2D": {"pool_size": 3, "strides": 2, "padding": "same"}},
        ),
        case("average_pooling", image, front, {"AveragePooling2D": {"pool_size": 2}}),
        case(
            "average_pooling_same", image, front,
            {"AveragePooling2D": {"pool_size": 3, "strides": 2, "padding": "same"}},
        ),
        case("global_average", image, front, {"GlobalAveragePooling2D": {}}),
        case(
            "global_average_keepdims", image, front,
            {"GlobalAveragePooling2D": {"keepdims": True}},
        ),
        case("batch_normalization", [5], {"BatchNormalization": {}}, {"Dense": {"units": 3}}),
        case(
            "batch_normalization_images", image, conv(use_bias=False),
            {"BatchNormalization": {"momentum": 0.6, "epsilon": 0.01}}, {"ReLU": {}},
            {"BatchNormalization": {"center": False, "gamma_regularizer": "l2"}},
        ),
        case(
            "batch_normalization_no_scale", image, conv(use_bias=False),
            {"BatchNormalization": {"scale": False, "synchronized": True}},
        ),
        case(
            "frozen", image, conv(), {"BatchNormalization": {"trainable": False}},
            conv(trainable=False, kernel_regularizer="l2"),
            {"DepthwiseConv2D": {"kernel_size": 2}},
        ),
        case(
            "frozen_normalization", [5], {"Dense": {"units": 4}},
            {"BatchNormalization": {"trainable": False, "gamma_regularizer": "l2"}},
            {"Dense": {"units": 3, "kernel_regularizer": "l2"}},
        ),
        case("flatten", image, front, {"Flatten": {}}, {"Dense": {"units": 2}}),
        case("reshape", image, front, {"Reshape": {"target_shape": [4, -1]}}),
        case("dropout", [5], {"Dense": {"units": 4}}, {"Dropout": {"rate": 0.5}}),
        case(
            "relu", [5], {"Dense": {"units": 6}},
            {"ReLU": {"max_value": 1.0, "negative_slope": 0.1, "threshold": 0.2}},
        ),
        case("relu_plain", [5], {"Dense": {"units": 6}}, {"ReLU": {}}),
        case("softmax_last", [2, 5], {"Dense": {"units": 4}}, {"Softmax": {}}),
        case("softmax_axis", [2, 5], {"Dense": {"units": 4}}, {"Softmax": {"axis": 1}}),
        case(
            "regularizers", [5],
            {"Dense": {"units": 4, "kernel_regularizer": "l1", "bias_regularizer": "l2"}},
            {"Dense": {
                "units": 3,
                "kernel_regularizer": {
                    "class_name": "L1L2", "config": {"l1": 0.1, "l2": 0.2},
                },
            }},
        ),
        case("regularizer_l2", image, conv(kernel_regularizer="l2")),
    ]  # fmt: skip


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
        case("concatenate", *sides, merge("Concatenate", "a", "input_layer", "b")),
        case("concatenate_axis", *sides, merge("Concatenate", "b", "a", axis=1)),
        case(
            "residual", conv("a", activation="relu"), conv("b", use_bias=False),
            {"BatchNormalization": {"name": "c"}}, merge("Add", "c", "a"), {"ReLU": {}},
            {"GlobalAveragePooling2D": {}}, {"Dense": {"units": 3}},
        ),
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
