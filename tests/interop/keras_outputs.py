"""What Keras computes of a model of several inputs and outputs: a part of keras_expected.py."""

import keras
import tensorflow as tf

from keras_models import make_layer, ramp, sparse_labels, value_labels
from keras_optimizers import numbers

# Of two inputs and three outputs, of which another layer reads the first, and another has no loss.
SEVERAL_OUTPUTS = [
    {"Input": {"shape": [5], "name": "row"}},
    {"Input": {"shape": [4, 3], "name": "grid"}},
    {"Flatten": {"name": "flat"}},
    {"Concatenate": {"name": "both"}, "inputs": ["row", "flat"]},
    {"Dense": {"units": 6, "activation": "tanh", "name": "hidden"}},
    {"Dense": {"units": 4, "activation": "softmax", "name": "class"}},
    {"Concatenate": {"name": "joined"}, "inputs": ["class", "hidden"]},
    {"Dense": {"units": 2, "name": "place"}},
    {"Dense": {"units": 3, "activation": "tanh", "name": "aside"}, "inputs": ["hidden"]},
]


def several_outputs(batch=3):
    """Outputs, loss, metrics and gradients of SEVERAL_OUTPUTS.

    Features of input i are ramp(salt 1 + i), variable i is ramp(salt 10 + i).
    """
    keras.utils.clear_session()
    inputs, made, tensors = [], [], {}
    last = None
    for entry in SEVERAL_OUTPUTS:
        if "Input" in entry:
            last = keras.Input(**entry["Input"])
            inputs.append(last)
            tensors[entry["Input"]["name"]] = last
            continue
        layer = make_layer(entry)
        made.append(layer)
        read = [tensors[name] for name in entry.get("inputs", [])] or [last]
        last = tensors[layer.name] = layer(read if len(read) > 1 else read[0])
    outputs = [
        {
            "layer": "class",
            "loss": "sparse_categorical_crossentropy",
            "weight": 1.0,
            "metrics": ["accuracy", "sparse_categorical_crossentropy"],
        },
        {"layer": "aside", "loss": None, "weight": 1.0, "metrics": ["mae"]},
        {"layer": "place", "loss": "mse", "weight": 0.3, "metrics": ["mse"]},
    ]
    model = keras.Model(inputs, [tensors[each["layer"]] for each in outputs])
    weights = [variable for layer in made for variable in layer.weights]
    for i, variable in enumerate(weights):
        variable.assign(ramp(tuple(variable.shape), 10 + i))
    x = [ramp((batch, *each.shape[1:]), 1 + i) for i, each in enumerate(inputs)]
    y = [sparse_labels(batch, 4), value_labels(batch, [3]), value_labels(batch, [2])]
    model.compile(
        loss=[each["loss"] for each in outputs],
        loss_weights=[each["weight"] for each in outputs],
        metrics=[each["metrics"] for each in outputs],
    )
    logs = model.evaluate(x, y, batch_size=batch, verbose=0, return_dict=True)
    values = [logs["loss"]]
    for each in outputs:
        values += [logs[f"{each['layer']}_{metric}"] for metric in each["metrics"]]
    with tf.GradientTape() as tape:
        value = model.compute_loss(x, y, model(x, training=True))
    slopes = tape.gradient(value, [v.value for v in weights])
    return {
        "layers": SEVERAL_OUTPUTS,
        "outputs": outputs,
        "batch": batch,
        "labels": [numbers(each) for each in y],
        "predictions": [numbers(each) for each in model.predict(x, verbose=0)],
        # The loss, then the metrics of each output.
        "logs": numbers(values),
        # What no loss depends on has none.
        "gradients": [numbers(tf.zeros_like(v.value) if s is None else s) for s, v in zip(slopes, weights)],
    }
