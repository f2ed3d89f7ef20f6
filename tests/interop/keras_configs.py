"""Writes keras_configs.json: how Keras serializes its objects, for the tests to compare with.

    venv/bin/python tests/interop/keras_configs.py [--check]

A case is a class, the arguments that the object is made with, and what
`keras.saving.serialize_keras_object` writes of it. Each class that Paceline has is
made with as few arguments as it takes, and with all that Paceline supports. Numbers
are floats where Keras' defaults are, since Keras writes what it was given.
"""

import json
import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras

import expected_file

KERAS_VERSION = "3.15.1"

ONES = "ones"
CONSTANT = {"class_name": "Constant", "config": {"value": 0.5}}
HE = {"class_name": "HeNormal", "config": {"seed": 7}}
L1 = {"class_name": "L1", "config": {"l1": 0.1}}
L1L2 = {"class_name": "L1L2", "config": {"l1": 0.25, "l2": 0.0}}


def wrapped(class_name, **config):
    """A layer in the config of another one."""
    return {"module": "keras.layers", "class_name": class_name, "config": {"name": "inner", **config}}


def layers():
    """The name is given, as a model gives it to its layers."""
    window = {"strides": 2, "padding": "same"}
    bias = {"bias_initializer": CONSTANT, "bias_regularizer": L1L2}
    output = {"activation": "swish", **bias}
    recurrent = {
        "return_sequences": True, "go_backwards": True, "unroll": True,
        "activation": "relu", "kernel_initializer": HE, "recurrent_initializer": "glorot_normal",
        "kernel_regularizer": "l2", "recurrent_regularizer": L1, "dropout": 0.25,
        "recurrent_dropout": 0.5, **bias,
    }
    lstm = wrapped("LSTM", units=3)
    normalization = {
        "epsilon": 0.01, "center": False, "scale": False, "beta_initializer": CONSTANT,
        "gamma_initializer": HE, "beta_regularizer": L1, "gamma_regularizer": "l2",
    }  # fmt: skip
    cases = [
        ("Activation", {"activation": "relu"}),
        ("Activation", {"activation": "hard_swish", "trainable": False}),
        ("Add", {}),
        ("AlphaDropout", {"rate": 0.5}),
        ("AlphaDropout", {"rate": 0.25, "seed": 3, "noise_shape": [None, 1, 4]}),
        ("Average", {}),
        ("AveragePooling1D", {"pool_size": 2}),
        ("AveragePooling1D", {"pool_size": [3], **window}),
        ("AveragePooling2D", {"pool_size": 2}),
        ("AveragePooling2D", {"pool_size": [3, 2], **window}),
        ("BatchNormalization", {}),
        ("BatchNormalization", {
            "axis": 3, "momentum": 0.9, **normalization, "moving_mean_initializer": ONES,
            "moving_variance_initializer": HE, "synchronized": True, "trainable": False,
        }),
        ("Bidirectional", {"layer": lstm}),
        ("Bidirectional", {
            "merge_mode": "ave", "layer": lstm,
            "backward_layer": wrapped("LSTM", units=3, go_backwards=True, dropout=0.5),
        }),
        ("Concatenate", {}),
        ("Concatenate", {"axis": 1}),
        ("Conv1D", {"filters": 4, "kernel_size": 3}),
        ("Conv1D", {
            "filters": 4, "kernel_size": [3], **window, "groups": 2, **output,
            "kernel_initializer": HE, "kernel_regularizer": "l2", "use_bias": False,
        }),
        ("Conv1D", {"filters": 4, "kernel_size": 3, "padding": "causal", "dilation_rate": 2}),
        ("Conv2D", {"filters": 4, "kernel_size": 3}),
        ("Conv2D", {
            "filters": 4, "kernel_size": [3, 2], **window, "groups": 2, **output,
            "kernel_initializer": HE, "kernel_regularizer": "l2", "use_bias": False,
        }),
        ("Conv2D", {"filters": 4, "kernel_size": 3, "dilation_rate": [2, 3]}),
        ("Conv2DTranspose", {"filters": 4, "kernel_size": 3}),
        ("Conv2DTranspose", {
            "filters": 4, "kernel_size": [3, 2], **window, "output_padding": 1, **output,
            "kernel_initializer": HE, "kernel_regularizer": "l2", "use_bias": False,
        }),
        ("Conv2DTranspose", {"filters": 4, "kernel_size": 3, "dilation_rate": [2, 3]}),
        ("Cropping1D", {}),
        ("Cropping1D", {"cropping": [0, 2]}),
        ("Cropping2D", {}),
        ("Cropping2D", {"cropping": [[0, 1], [2, 3]]}),
        ("Dense", {"units": 3}),
        ("Dense", {
            "units": 3, **output, "use_bias": False, "kernel_initializer": "lecun_uniform",
            "kernel_regularizer": "l1",
        }),
        ("DepthwiseConv2D", {"kernel_size": 3}),
        ("DepthwiseConv2D", {
            "kernel_size": [3, 2], **window, "depth_multiplier": 2, **output,
            "depthwise_initializer": HE, "depthwise_regularizer": L1,
        }),
        ("Dot", {"axes": -1}),
        ("Dot", {"axes": [2, 1], "normalize": True}),
        ("Dropout", {"rate": 0.5}),
        ("Dropout", {"rate": 0.25, "seed": 3}),
        ("Dropout", {"rate": 0.25, "noise_shape": [None, 1, 4]}),
        ("ELU", {}),
        ("ELU", {"alpha": 0.5}),
        ("Embedding", {"input_dim": 9, "output_dim": 4}),
        ("Embedding", {"input_dim": 9, "output_dim": 4, "mask_zero": True}),
        ("Masking", {}),
        ("Masking", {"mask_value": -1.5}),
        ("Embedding", {
            "input_dim": 9, "output_dim": 4, "embeddings_initializer": HE,
            "embeddings_regularizer": L1L2,
        }),
        ("Flatten", {}),
        ("GaussianDropout", {"rate": 0.5}),
        ("GaussianDropout", {"rate": 0.25, "seed": 3}),
        ("GaussianNoise", {"stddev": 0.5}),
        ("GaussianNoise", {"stddev": 0.25, "seed": 3}),
        ("GlobalAveragePooling1D", {}),
        ("GlobalAveragePooling1D", {"keepdims": True}),
        ("GlobalAveragePooling2D", {}),
        ("GlobalAveragePooling2D", {"keepdims": True}),
        ("GlobalMaxPooling1D", {}),
        ("GlobalMaxPooling1D", {"keepdims": True}),
        ("GlobalMaxPooling2D", {}),
        ("GlobalMaxPooling2D", {"keepdims": True}),
        ("GroupNormalization", {}),
        ("GroupNormalization", {"groups": -1, "axis": 1, **normalization}),
        ("GRU", {"units": 3}),
        ("GRU", {
            "units": 3, **recurrent, "recurrent_activation": "hard_sigmoid",
            "reset_after": False, "seed": 3,
        }),
        ("InputLayer", {"shape": [28, 28, 1]}),
        ("InputLayer", {"batch_shape": [None, 6]}),
        ("LayerNormalization", {}),
        ("LayerNormalization", {"axis": [2, 3], **normalization}),
        ("LeakyReLU", {}),
        ("LeakyReLU", {"negative_slope": 0.5}),
        ("LSTM", {"units": 3}),
        ("LSTM", {
            "units": 3, **recurrent, "recurrent_activation": "hard_sigmoid",
            "unit_forget_bias": False, "use_bias": False, "seed": 3,
        }),
        ("Maximum", {}),
        ("MaxPooling1D", {}),
        ("MaxPooling1D", {"pool_size": 3, **window}),
        ("MaxPooling2D", {}),
        ("MaxPooling2D", {"pool_size": 3, **window}),
        ("Minimum", {}),
        ("MultiHeadAttention", {"num_heads": 2, "key_dim": 3}),
        ("MultiHeadAttention", {
            "num_heads": 2, "key_dim": 3, "value_dim": 5, "dropout": 0.5, "use_bias": False,
            "output_shape": [8], "attention_axes": [1], "kernel_initializer": HE,
            "kernel_regularizer": L1, "bias_initializer": ONES, "bias_regularizer": "l2", "seed": 3,
        }),
        ("Multiply", {}),
        ("Normalization", {}),
        ("Normalization", {
            "axis": [1, -1], "mean": [0.5, -1.0], "variance": [0.25, 4.0], "invert": True,
        }),
        ("Normalization", {"axis": None, "mean": 0.5, "variance": 0.25}),
        ("Permute", {"dims": [2, 1]}),
        ("PReLU", {}),
        ("PReLU", {
            "alpha_initializer": CONSTANT, "alpha_regularizer": L1, "shared_axes": [1, 2],
        }),
        ("PReLU", {"shared_axes": 2}),
        ("ReLU", {}),
        ("ReLU", {"max_value": 6.0, "negative_slope": 0.1, "threshold": 0.5}),
        ("RepeatVector", {"n": 3}),
        ("Rescaling", {"scale": 0.5}),
        ("Rescaling", {"scale": [0.5, 2.0], "offset": [-1.0, 0.0]}),
        ("Reshape", {"target_shape": [4, -1]}),
        ("SeparableConv2D", {"filters": 4, "kernel_size": 3}),
        ("SeparableConv2D", {
            "filters": 4, "kernel_size": [3, 2], **window, "depth_multiplier": 2, **output,
            "depthwise_initializer": HE, "depthwise_regularizer": L1,
            "pointwise_initializer": ONES, "pointwise_regularizer": "l1",
        }),
        ("SimpleRNN", {"units": 3}),
        ("SimpleRNN", {"units": 3, **recurrent, "use_bias": False}),
        ("Softmax", {}),
        ("Softmax", {"axis": 1}),
        ("SpatialDropout1D", {"rate": 0.5}),
        ("SpatialDropout1D", {"rate": 0.25, "seed": 3}),
        ("SpatialDropout2D", {"rate": 0.5}),
        ("SpatialDropout2D", {"rate": 0.25, "seed": 3}),
        ("Subtract", {}),
        ("TimeDistributed", {"layer": wrapped("Dense", units=3, activation="relu")}),
        ("UpSampling1D", {}),
        ("UpSampling1D", {"size": 3}),
        ("UpSampling2D", {}),
        ("UpSampling2D", {"size": [2, 3], "interpolation": "bilinear"}),
        ("ZeroPadding1D", {}),
        ("ZeroPadding1D", {"padding": [0, 2]}),
        ("ZeroPadding2D", {}),
        ("ZeroPadding2D", {"padding": [[0, 1], [2, 3]]}),
        ("ActivityRegularization", {}),
        ("ActivityRegularization", {"l1": 0.25, "l2": 0.5}),
        ("Activation", {"activation": "relu", "activity_regularizer": L1L2}),
        ("Add", {"activity_regularizer": "l2"}),
        ("Conv2D", {"filters": 4, "kernel_size": 3, "activity_regularizer": "l2"}),
        ("Dense", {"units": 3, "activity_regularizer": L1}),
        ("Embedding", {"input_dim": 9, "output_dim": 4, "activity_regularizer": L1L2}),
        ("LSTM", {"units": 3, "activity_regularizer": "l2"}),
        ("Dense", {"units": 3, "kernel_constraint": "unit_norm", "bias_constraint": "non_neg"}),
        ("GRU", {"units": 3, "recurrent_constraint": "non_neg"}),
    ]  # fmt: skip
    return [(name, {"name": f"layer_{i}", **case}) for i, (name, case) in enumerate(cases)]


def losses():
    """Without Huber's `delta` and CosineSimilarity's `axis`, which Keras forgets to write."""
    named = {"name": "mine", "reduction": "mean"}
    logits = {"from_logits": True}
    smooth = {"label_smoothing": 0.1}
    return [
        ("BinaryCrossentropy", {}),
        ("BinaryCrossentropy", {**logits, **smooth, **named}),
        ("BinaryFocalCrossentropy", {}),
        ("BinaryFocalCrossentropy", {
            **logits, **smooth, **named, "apply_class_balancing": True, "alpha": 0.5, "gamma": 1.0,
        }),
        ("CategoricalCrossentropy", {}),
        ("CategoricalCrossentropy", {**logits, **smooth, **named}),
        ("CategoricalFocalCrossentropy", {}),
        ("CategoricalFocalCrossentropy", {**logits, **smooth, **named, "alpha": 0.5, "gamma": 1.0}),
        ("CategoricalHinge", {}),
        ("CosineSimilarity", {}),
        ("Dice", {}),
        ("Dice", {"axis": [1, 2], **named}),
        ("Hinge", {}),
        ("Huber", {}),
        ("Huber", named),
        ("KLDivergence", {}),
        ("LogCosh", {}),
        ("MeanAbsoluteError", {}),
        ("MeanAbsoluteError", named),
        ("MeanAbsolutePercentageError", {}),
        ("MeanSquaredError", {}),
        ("MeanSquaredError", {"reduction": "mean_with_sample_weight"}),
        ("MeanSquaredLogarithmicError", {}),
        ("Poisson", {}),
        ("SparseCategoricalCrossentropy", {}),
        ("SparseCategoricalCrossentropy", {**logits, **named}),
        ("SquaredHinge", {}),
        ("Tversky", {}),
        ("Tversky", {"alpha": 0.25, "beta": 1.0, "axis": -1, **named}),
    ]  # fmt: skip


def metrics():
    """The name is given: in a job it follows from how the metric is written there."""
    named = {"name": "mine"}
    average = {"average": "macro"}
    target = {"num_classes": 3, "target_class_ids": [0, 2]}
    rates = [
        ("PrecisionAtRecall", "recall"),
        ("RecallAtPrecision", "precision"),
        ("SensitivityAtSpecificity", "specificity"),
        ("SpecificityAtSensitivity", "sensitivity"),
    ]
    cases = [
        ("AUC", {}),
        ("AUC", {
            "num_thresholds": 50, "curve": "PR", "summation_method": "minoring",
            "from_logits": True,
        }),
        ("AUC", {"thresholds": [0.25, 0.5]}),
        ("BinaryAccuracy", {}),
        ("BinaryAccuracy", {"threshold": 0.25}),
        ("CategoricalAccuracy", {}),
        ("CosineSimilarity", {}),
        ("F1Score", average),
        ("F1Score", {"average": "weighted", "threshold": 0.25}),
        ("FBetaScore", average),
        ("FBetaScore", {"average": "micro", "beta": 2.0, "threshold": 0.25}),
        *((name, config) for name in ["FalseNegatives", "FalsePositives", "TrueNegatives", "TruePositives"]
          for config in [{}, {"thresholds": 0.25}]),
        ("BinaryIoU", {}),
        ("BinaryIoU", {"target_class_ids": [1], "threshold": 0.25}),
        ("IoU", target),
        ("IoU", {**target, "ignore_class": 2, "sparse_y_true": False, "sparse_y_pred": False}),
        ("LogCoshError", {}),
        ("MeanIoU", {"num_classes": 3}),
        ("MeanIoU", {
            "num_classes": 3, "ignore_class": 2, "sparse_y_true": False, "sparse_y_pred": False,
        }),
        ("OneHotIoU", target),
        ("OneHotIoU", {**target, "ignore_class": 2}),
        ("OneHotMeanIoU", {"num_classes": 3}),
        ("OneHotMeanIoU", {"num_classes": 3, "ignore_class": 2}),
        ("Precision", {}),
        ("Precision", {"thresholds": 0.25, "top_k": 3, "class_id": 2}),
        *((name, config) for name, key in rates
          for config in [{key: 0.5}, {key: 0.25, "num_thresholds": 50, "class_id": 2}]),
        ("R2Score", {}),
        ("R2Score", {"class_aggregation": "variance_weighted_average"}),
        ("Recall", {}),
        ("Recall", {"thresholds": 0.25, "top_k": 3, "class_id": 2}),
        ("RootMeanSquaredError", {}),
        ("SparseCategoricalAccuracy", {}),
        ("SparseTopKCategoricalAccuracy", {}),
        ("SparseTopKCategoricalAccuracy", {"k": 3}),
        ("TopKCategoricalAccuracy", {}),
        ("TopKCategoricalAccuracy", {"k": 3}),
    ]  # fmt: skip
    return [(name, {**config, **named}) for name, config in cases]


DECAY = {"initial_learning_rate": 0.1, "decay_steps": 100, "decay_rate": 0.9}


def optimizers():
    decay = {"class_name": "ExponentialDecay", "config": DECAY}
    return [
        ("Adam", {}),
        ("Adam", {
            "learning_rate": decay, "beta_1": 0.8, "beta_2": 0.99, "epsilon": 0.001,
            "amsgrad": True, "global_clipnorm": 2.0, "name": "mine",
        }),
        ("LossScaleOptimizer", {"inner_optimizer": {"class_name": "SGD", "config": {}}}),
        ("LossScaleOptimizer", {
            "inner_optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.5}},
            "initial_scale": 100.0, "dynamic_growth_steps": 3, "name": "mine",
        }),
        ("Adadelta", {}),
        ("Adadelta", {"learning_rate": 1.0, "rho": 0.8, "epsilon": 1e-3}),
        ("Adagrad", {}),
        ("Adagrad", {"initial_accumulator_value": 0.5, "epsilon": 1e-3}),
        ("Adamax", {}),
        ("Adamax", {"beta_1": 0.8, "beta_2": 0.9, "epsilon": 1e-3, "clipvalue": 0.5}),
        ("AdamW", {}),
        ("AdamW", {
            "weight_decay": 0.01, "beta_1": 0.8, "beta_2": 0.9, "epsilon": 1e-3,
            "amsgrad": True, "clipnorm": 2.0,
        }),
        ("Ftrl", {}),
        ("Ftrl", {
            "learning_rate_power": -0.3, "initial_accumulator_value": 0.5,
            "l1_regularization_strength": 0.01, "l2_regularization_strength": 0.1,
            "l2_shrinkage_regularization_strength": 0.05, "beta": 0.5,
        }),
        ("Lamb", {}),
        ("Lamb", {
            "learning_rate": 0.01, "weight_decay": 0.1, "beta_1": 0.8, "beta_2": 0.9,
            "epsilon": 1e-3,
        }),
        ("Lion", {}),
        ("Lion", {"beta_1": 0.5, "beta_2": 0.8}),
        ("Muon", {}),
        ("Muon", {
            "learning_rate": 0.1, "weight_decay": None, "exclude_layers": ["head"],
            "adam_lr_ratio": 0.5, "ns_steps": 3, "nesterov": False, "rms_rate": None,
        }),
        ("Nadam", {}),
        ("Nadam", {"beta_1": 0.8, "beta_2": 0.9, "epsilon": 1e-3}),
        ("RMSprop", {}),
        ("RMSprop", {
            "learning_rate": 0.1, "rho": 0.8, "momentum": 0.5, "epsilon": 0.001,
            "centered": True, "clipvalue": 2.0,
        }),
        ("SGD", {}),
        ("SGD", {"learning_rate": 0.3, "momentum": 0.9, "nesterov": True, "clipnorm": 2.0}),
        ("SGD", {"use_ema": True, "ema_momentum": 0.9, "ema_overwrite_frequency": 5}),
        ("Adam", {"gradient_accumulation_steps": 4}),
    ]  # fmt: skip


def schedules():
    span = {"initial_learning_rate": 0.1, "decay_steps": 100}
    restarts = {"initial_learning_rate": 0.1, "first_decay_steps": 100}
    return [
        ("CosineDecay", span),
        ("CosineDecay", {
            **span, "alpha": 0.3, "warmup_target": 0.4, "warmup_steps": 5, "name": "mine",
        }),
        ("CosineDecayRestarts", restarts),
        ("CosineDecayRestarts", {
            **restarts, "t_mul": 1.5, "m_mul": 0.9, "alpha": 0.1, "name": "mine",
        }),
        ("ExponentialDecay", DECAY),
        ("ExponentialDecay", {**DECAY, "decay_steps": 2.5, "staircase": True, "name": "mine"}),
        ("InverseTimeDecay", DECAY),
        ("InverseTimeDecay", {**DECAY, "staircase": True, "name": "mine"}),
        ("PiecewiseConstantDecay", {"boundaries": [10], "values": [1.0, 0.5]}),
        ("PiecewiseConstantDecay", {
            "boundaries": [10, 20.5], "values": [1.0, 0.5, 0.125], "name": "mine",
        }),
        ("PolynomialDecay", span),
        ("PolynomialDecay", {
            **span, "end_learning_rate": 0.2, "power": 2.5, "cycle": True, "name": "mine",
        }),
    ]  # fmt: skip


def initializers():
    named = [n + d for n in ("Glorot", "He", "Lecun") for d in ("Uniform", "Normal")]
    normal = {"mean": 1.0, "stddev": 0.5, "seed": 7}
    return [
        ("Constant", {}),
        ("Constant", {"value": 1.0}),
        *((name, {}) for name in named),
        *((name, {"seed": 7}) for name in named),
        ("Ones", {}),
        ("Orthogonal", {}),
        ("Orthogonal", {"gain": 0.5, "seed": 7}),
        ("RandomNormal", {}),
        ("RandomNormal", normal),
        ("RandomUniform", {}),
        ("RandomUniform", {"minval": -1.0, "maxval": 2.0, "seed": 7}),
        ("TruncatedNormal", {}),
        ("TruncatedNormal", normal),
        ("VarianceScaling", {}),
        ("VarianceScaling", {
            "scale": 2.0, "mode": "fan_avg", "distribution": "normal", "seed": 7,
        }),
        ("Zeros", {}),
    ]  # fmt: skip


def constraints():
    """With all numbers as floats: MaxNorm's own default is an integer."""
    return [
        ("MaxNorm", {"max_value": 2.0}),
        ("MaxNorm", {"max_value": 0.5, "axis": [0, 1]}),
        ("MinMaxNorm", {}),
        ("MinMaxNorm", {"min_value": 0.25, "max_value": 0.5, "rate": 0.75, "axis": 1}),
        ("NonNeg", {}),
        ("UnitNorm", {}),
        ("UnitNorm", {"axis": [0, 1, 2]}),
    ]


def regularizers():
    return [
        ("L1", {}),
        ("L1", {"l1": 0.1}),
        ("L1L2", {}),
        ("L1L2", {"l1": 0.25, "l2": 0.0}),
        ("L2", {}),
        ("L2", {"l2": 0.1}),
    ]


def constructed(module, class_name, arguments):
    """The object. An object among the arguments becomes one: Keras leaves it to us."""
    rate = arguments.get("learning_rate")
    if isinstance(rate, dict):
        arguments = {**arguments, "learning_rate": keras.optimizers.schedules.deserialize(rate)}
    if "inner_optimizer" in arguments:
        inner = keras.optimizers.deserialize(arguments["inner_optimizer"])
        arguments = {**arguments, "inner_optimizer": inner}
    keras.utils.clear_session()
    wrapped = {k: keras.layers.deserialize(v) for k, v in arguments.items() if k.endswith("layer")}
    arguments = {**arguments, **wrapped}
    return getattr(module, class_name)(**arguments)


def make_text():
    assert keras.__version__ == KERAS_VERSION, keras.__version__
    registries = {
        "constraints": (keras.constraints, constraints()),
        "initializers": (keras.initializers, initializers()),
        "layers": (keras.layers, layers()),
        "losses": (keras.losses, losses()),
        "metrics": (keras.metrics, metrics()),
        "optimizers": (keras.optimizers, optimizers()),
        "regularizers": (keras.regularizers, regularizers()),
        "schedules": (keras.optimizers.schedules, schedules()),
    }
    lists = []
    for name, (module, cases) in registries.items():
        lines = []
        for class_name, arguments in cases:
            made = constructed(module, class_name, arguments)
            case = {"class_name": class_name, "arguments": arguments,
                    "serialized": keras.saving.serialize_keras_object(made)}  # fmt: skip
            lines.append(json.dumps(case))
        lists.append(f"{json.dumps(name)}: [\n" + ",\n".join(lines) + "\n]")
    return "{\n" + ",\n".join(lists) + "\n}\n"


if __name__ == "__main__":
    expected_file.main("keras_configs.json", make_text, expected_file.line_differences)
