"""What Keras computes of models: a part of keras_expected.py, which sets it up."""

import keras
import numpy as np
import tensorflow as tf

from keras.src.trainers.data_adapters import data_adapter_utils
from keras_optimizers import numbers


def ramp(shape, salt, scale=1.0):
    """Distinct values in [-scale, scale) that look random; exact in any language."""
    index = np.arange(int(np.prod(shape)), dtype=np.int64)
    values = ((index * 2741 + salt * 611) % 9973) / 4986.5 - 1.0
    return (values * scale).astype(np.float32).reshape(shape)


# Keys of a layer's config in our jobs that Keras takes as arguments of its call.
CALL_KEYWORDS = ("use_causal_mask", "mask_inputs")


# Keys of our jobs beside the class of a layer.
BESIDE_CLASS = ("inputs", "unmasked")


OPERATORS = ("Add", "Multiply", "Subtract", "Rescaling")


class Operator:
    """What a layer that is `unmasked` stands for, such as x + y or 2 * x."""

    weights = ()

    def __init__(self, class_name, name, scale=1, offset=0):
        self.name = name
        self.call = {
            "Add": lambda tensors: tensors[0] + tensors[1],
            "Multiply": lambda tensors: tensors[0] * tensors[1],
            "Subtract": lambda tensors: tensors[0] - tensors[1],
            "Rescaling": lambda x: scale * x if offset == 0 else x + offset if scale == 1 else offset - x,
        }[class_name]

    def __call__(self, tensors):
        return self.call(tensors)


def class_and_config(entry):
    return next((k, v) for k, v in entry.items() if k not in BESIDE_CLASS)


def make_layer(entry):
    class_name, config = class_and_config(entry)
    if entry.get("unmasked") and class_name in OPERATORS:
        return Operator(class_name, **config)
    wrapped = {k: make_layer(v) for k, v in config.items() if k in ("layer", "backward_layer")}
    own = {k: v for k, v in config.items() if k not in CALL_KEYWORDS}
    return getattr(keras.layers, class_name)(**{**own, **wrapped})


def call_layer(layer, entry, tensors):
    if entry.get("unmasked") and not isinstance(layer, Operator):
        return layer(*tensors, training=False)
    if not isinstance(layer, (keras.layers.MultiHeadAttention, keras.layers.Softmax)):
        return layer(tensors if len(tensors) > 1 else tensors[0])
    _, config = class_and_config(entry)
    keywords = {k: v for k, v in config.items() if k in CALL_KEYWORDS}
    names = keywords.pop("mask_inputs", [])
    count = len(tensors) - len(names)
    return layer(*tensors[:count], **dict(zip(names, tensors[count:])), **keywords)


def make_model(shape, entries):
    """The model, and its layers in the order of `entries`.

    An entry may name the layers that it reads, in `inputs`, as in our jobs.
    """
    layers = [make_layer(entry) for entry in entries]
    inputs = keras.Input(shape, name="input_layer")
    if not any("inputs" in entry for entry in entries):
        return keras.Sequential([inputs, *layers]), layers
    tensors = {"input_layer": inputs}
    last = inputs
    for entry, layer in zip(entries, layers):
        read = [tensors[name] for name in entry.get("inputs", [])] or [last]
        last = tensors[layer.name] = call_layer(layer, entry, read)
    return keras.Model(inputs, last), layers


def make_object(module, entry):
    if isinstance(entry, str):
        return entry
    (class_name, config), = entry.items()
    return getattr(module, class_name)(**config)


def features(shape, layers):
    """Values of a ramp, or ids if there is an Embedding."""
    ids = [each["Embedding"]["input_dim"] for each in layers if "Embedding" in each]
    if not ids:
        return ramp(shape, 1)
    index = np.arange(int(np.prod(shape)), dtype=np.int64)
    return ((7 * index + 3) % min(ids)).astype(np.float32).reshape(shape)


def sparse_labels(count, classes, shape=()):
    """Of `count` examples, each with labels of this shape."""
    size = count * int(np.prod(shape))
    return np.array([(3 * i + 1) % classes for i in range(size)], np.int32).reshape(count, *shape)


def ignored_labels(labels, loss):
    """Each third label is the one that the loss ignores."""
    (config,) = loss.values()
    labels.flat[1::3] = config["ignore_class"]
    return labels


def one_hot_labels(count, shape):
    labels = np.zeros((count, *shape), np.float32)
    rows = labels.reshape(-1, shape[-1])
    for i in range(len(rows)):
        rows[i, (3 * i + 1) % shape[-1]] = 1
    return labels


def bit_labels(count, shape):
    return (ramp((count, *shape), salt=77) > 0).astype(np.float32)


def value_labels(count, shape):
    return ramp((count, *shape), salt=77)


def example_weights(labels, class_weight):
    """What fit makes of a class_weight."""
    return data_adapter_utils.class_weight_to_sample_weights(labels, class_weight)


def model_case(
    name, shape, layers, loss, labels, metrics=(), batch=3, scale=1.0, class_weight=None,
    sample_weight=None,
):  # fmt: skip
    """Output, loss, metrics and gradients of a model.

    Features are those of `features`, variable i is ramp(salt 10 + i) times `scale`; its
    square plus 0.25 if it is not trainable, such as a variance. `labels` is
    "sparse", "sparse_column" (with a last axis of 1), "sparse_ignored", "one_hot", "bits" or
    "values". A `class_weight` has its effect on gradients only, a `sample_weight` on the loss,
    too. Gradients of what is not trainable are the deltas that a step of training makes.
    """
    keras.utils.clear_session()
    model, made = make_model(shape, layers)
    weights = [variable for layer in made for variable in layer.weights]
    for i, variable in enumerate(weights):
        value = ramp(tuple(variable.shape), 10 + i, scale)
        variable.assign(value if variable.trainable else value**2 + 0.25)
    for layer in made:
        if isinstance(layer, keras.layers.Normalization):
            layer.finalize_state()
    x = features((batch, *shape), layers)
    output_shape = model.output_shape[1:]
    y = {
        "sparse": lambda: sparse_labels(batch, output_shape[-1], output_shape[:-1]),
        "sparse_column": lambda: sparse_labels(batch, output_shape[-1], (*output_shape[:-1], 1)),
        "sparse_ignored": lambda: ignored_labels(
            sparse_labels(batch, output_shape[-1], output_shape[:-1]), loss
        ),
        "one_hot": lambda: one_hot_labels(batch, output_shape),
        "bits": lambda: bit_labels(batch, output_shape),
        "values": lambda: value_labels(batch, output_shape),
    }[labels]()
    model.compile(
        loss=make_object(keras.losses, loss),
        metrics=[make_object(keras.metrics, each) for each in metrics],
    )
    counts = None
    if sample_weight is not None:
        # Keras broadcasts only axes that are there.
        counts = np.array(sample_weight, np.float32).reshape(-1, *[1] * (len(output_shape) - 1))
    logs = model.evaluate(x, y, batch_size=batch, sample_weight=counts, verbose=0, return_dict=True)
    output = numbers(model.predict(x, verbose=0))
    before = [v.numpy() for v in weights]
    with tf.GradientTape() as tape:
        prediction = model(x, training=True)
        in_training = counts if class_weight is None else example_weights(y, class_weight)
        value = model.compute_loss(x, y, prediction, in_training)
    trained = [v for v in weights if v.trainable]
    slopes = tape.gradient(value, [v.value for v in trained])
    # What only makes a mask has none.
    slopes = iter(0 * v.value if slope is None else slope for slope, v in zip(slopes, trained))
    gradients = [
        tf.convert_to_tensor(next(slopes)) if v.trainable else v.numpy() - old
        for v, old in zip(weights, before)
    ]
    weights_of_classes = {str(k): v for k, v in (class_weight or {}).items()}
    return {
        "name": name,
        **({"class_weight": weights_of_classes} if class_weight else {}),
        **({"sample_weight": list(sample_weight)} if sample_weight else {}),
        "layers": [{"Input": {"shape": shape}}, *layers],
        "loss": loss,
        "metrics": list(metrics),
        "batch": batch,
        "scale": scale,
        "labels": numbers(y),
        "output": output,
        "logs": {key: float(f"{v:.8g}") for key, v in logs.items()},
        # Keras' random numbers are others than ours.
        "gradients": []
        if any("Dropout" in name or "Noise" in name for each in layers for name in each)
        else [numbers(g) for g in gradients],
    }
