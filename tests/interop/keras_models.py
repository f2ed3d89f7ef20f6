"""Layers, inputs and labels of models: a part of keras_expected.py, which sets it up."""

import keras
import numpy as np


def ramp(shape, salt, scale=1.0):
    """Distinct values in [-scale, scale) that look random; exact in any language."""
    index = np.arange(int(np.prod(shape)), dtype=np.int64)
    values = ((index * 2741 + salt * 611) % 9973) / 4986.5 - 1.0
    return (values * scale).astype(np.float32).reshape(shape)


def make_layer(entry):
    (class_name, config), = ((k, v) for k, v in entry.items() if k != "inputs")
    return getattr(keras.layers, class_name)(**config)


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
        last = tensors[layer.name] = layer(read if len(read) > 1 else read[0])
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


def sparse_labels(count, classes):
    return np.array([(3 * i + 1) % classes for i in range(count)], np.int32)


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
