"""Keras models in and out: the real Keras beside the real programs.

    python3 keras_files_test.py BINARIES [NAME...]
    python3 keras_files_test.py BINARIES --part PART/PARTS

With --part: of the models every PARTS-th, from number PART on.

For each model: Keras makes it, with random weights and moving statistics, and compiles it. A job
goes on with its file, and so does Keras, over the same batches of Fashion-MNIST. Then the losses of
each step must be equal, and what the job writes must load into Keras, with equal weights and state of
the optimizer; both go on once more, each from the other's file. The losses must be the same when a job
takes the weights from a checkpoint of TensorFlow, and all else from a file with other weights. Some
cases go on from the optimizer's state in a checkpoint and in a legacy file, too.

The legacy file (.h5) that a job writes must load into Keras as the .keras beside it does, with the same
outputs to the bit. Some cases go on from it, in Keras and in a job.
"""

import argparse
import pathlib
import sys
import tempfile

# First, since it says on what TensorFlow runs.
from both_sides import Recorder, columns, difference, fashion_mnist, run_job, values

import h5py
import keras
import numpy as np
import tensorflow as tf
from keras import layers, losses, optimizers

STEPS = 20
BATCH = 16
HALVES = (slice(0, STEPS * BATCH), slice(STEPS * BATCH, None))


# --- The models --------------------------------------------------------------------------------


def tutorial():
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(8, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(32, activation="relu", kernel_regularizer="l2", activity_regularizer="l1"),
            layers.Dense(10),
        ]
    )


def separable():
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.ZeroPadding2D(((0, 1), (0, 1))),
            layers.Conv2D(8, 3, strides=2, use_bias=False),
            layers.BatchNormalization(momentum=0.9),
            layers.ReLU(6.0),
            layers.DepthwiseConv2D(3, padding="same", use_bias=False),
            layers.BatchNormalization(momentum=0.9, scale=False),
            layers.Activation("swish"),
            layers.SeparableConv2D(12, 3, padding="same", depth_multiplier=2),
            layers.AveragePooling2D(2),
            layers.LayerNormalization(),
            layers.GlobalAveragePooling2D(),
            layers.Dense(10),
        ]
    )


def branches():
    """Made in another order than that of Keras' files, with operators between layers."""
    inputs = keras.Input((28, 28, 1))
    x = layers.Conv2D(6, 3, strides=2, padding="same", activation="relu")(inputs)
    short = layers.Conv2D(6, 1, name="short")(x)
    long = layers.Conv2D(6, 3, padding="same", activation="relu")(x)
    long = layers.BatchNormalization(momentum=0.9)(long)
    long = layers.Conv2D(6, 3, padding="same")(long)
    x = layers.Add()([short, long]) * 0.5 + x
    x = layers.Concatenate()([x, short])
    x = layers.ReLU()(x - 0.1)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inputs, layers.Dense(10, activation="softmax")(x))


def recurrent():
    """Reads the rows of an image."""
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Reshape((28, 28)),
            layers.LSTM(12, return_sequences=True),
            layers.GRU(10, return_sequences=True, go_backwards=True),
            layers.GRU(8, return_sequences=True, reset_after=False),
            layers.Bidirectional(layers.LSTM(5, return_sequences=True), merge_mode="sum"),
            layers.TimeDistributed(layers.Dense(6, activation="relu")),
            layers.SimpleRNN(9, recurrent_regularizer="l2"),
            layers.Dense(10),
        ]
    )


def frozen():
    model = separable()
    for layer in model.layers[:4]:
        layer.trainable = False
    return model


def nested():
    """A frozen Functional, a Sequential and a Functional with a model of its own."""
    inputs = keras.Input((14, 14, 8))
    x = layers.Conv2D(8, 3, padding="same", name="features")(inputs)
    x = layers.BatchNormalization(momentum=0.9)(x)
    base = keras.Model(inputs, layers.ReLU()(x), name="base")
    base.trainable = False
    features = layers.Conv2D(12, 3, use_bias=False, name="features")
    head = keras.Sequential([features, layers.BatchNormalization(momentum=0.9), layers.ReLU()], name="head")
    inputs = keras.Input((12,))
    inner = keras.Sequential([keras.Input((12,)), layers.Dense(12, activation="relu")])
    tail = keras.Model(inputs, layers.Dense(10)(layers.Add()([inner(inputs), inputs])), name="tail")
    left, right = keras.Input((14, 14, 8)), keras.Input((14, 14, 8))
    mix = keras.Model([left, right], layers.Subtract()([right, layers.ReLU()(left)]), name="mix")
    inputs = keras.Input((28, 28, 1))
    x = layers.Conv2D(8, 3, strides=2, padding="same")(inputs)
    x = mix([x, base(x)])
    return keras.Model(inputs, tail(layers.GlobalAveragePooling2D()(head(x))))


def shared():
    """A layer and a model that are called more than once."""
    inputs = keras.Input((14, 14, 6))
    x = layers.DepthwiseConv2D(3, padding="same")(inputs)
    branch = keras.Model(inputs, layers.Conv2D(6, 1, activation="relu")(x), name="branch")
    inputs = keras.Input((28, 28, 1))
    x = layers.Conv2D(6, 3, strides=2, padding="same", activation="relu")(inputs)
    tower = layers.Conv2D(6, 3, padding="same", activation="tanh", kernel_regularizer="l2")
    y = tower(tower(x))
    x = layers.Add()([branch(y), branch(x), tower(y)])
    x = layers.GlobalAveragePooling2D()(branch(x))
    return keras.Model(inputs, layers.Dense(10)(x))


def parts():
    """Models in the model with several outputs, and with one that a layer of theirs reads."""
    inputs = keras.Input((14, 14, 6))
    x = layers.Conv2D(6, 1, activation="tanh")(inputs)
    pyramid = keras.Model(inputs, [layers.AveragePooling2D(2)(x), x], name="pyramid")
    inputs = keras.Input((6,))
    x = layers.Dense(6, activation="tanh")(inputs)
    pair = keras.Model(inputs, [layers.Dense(6)(x), x], name="pair")
    around = keras.Input((6,))
    second, first = pair(around)
    pair = keras.Model(around, [layers.Add()([first, second]), second, first], name="around")
    inputs = keras.Input((28, 28, 1))
    x = layers.Conv2D(6, 3, strides=2, padding="same", activation="relu")(inputs)
    coarse, fine = pyramid(x)
    _, finer = pyramid(layers.Conv2D(6, 3, padding="same")(fine))
    pool = layers.GlobalAveragePooling2D()
    total, left, _ = pair(layers.Add()([pool(finer), pool(coarse)]))
    again, _, right = pair(total)
    return keras.Model(inputs, layers.Dense(10)(layers.Concatenate()([left, again, right])))


def attention():
    """Attention of a sequence to itself, and of a shorter one to it."""
    inputs = keras.Input((28, 28, 1))
    x = layers.Dense(12, activation="tanh")(layers.Reshape((28, 28))(inputs))
    y = layers.LayerNormalization()(x)
    x = x + layers.MultiHeadAttention(3, 4)(y, y, use_causal_mask=True)
    y = layers.Conv1D(8, 3, strides=2, activation="tanh")(x)
    y = layers.MultiHeadAttention(2, 5, value_dim=3, output_shape=6)(query=y, value=x)
    return keras.Model(inputs, layers.Dense(10)(layers.GlobalAveragePooling1D()(y)))


def given():
    """Masks that calls are given by hand: an Input, outputs of layers, and those of the sequences."""
    image, mask = keras.Input((28, 28, 1), name="image"), keras.Input((28, 28), dtype="bool", name="mask")
    rows = layers.Reshape((28, 28))(image)
    x = layers.Masking()(layers.Dense(12, use_bias=False)(rows))
    x = layers.Add()([x, layers.MultiHeadAttention(2, 4)(x, x, attention_mask=mask, use_causal_mask=True)])
    bits = layers.Reshape((28,))(layers.Dense(1, activation="relu", name="bits")(rows))
    more = layers.Reshape((1, 28))(bits)
    attention = layers.MultiHeadAttention(3, 4, use_bias=False)
    x = attention(x, x, value_mask=bits, attention_mask=more)
    x = attention(x, x, value_mask=bits, attention_mask=mask)
    return keras.Model([image, mask], layers.Dense(10)(layers.GlobalAveragePooling1D()(x)))


def masked():
    """Reads the rows of an image; those that are black are padding."""
    inputs = keras.Input((28, 28, 1))
    rows = layers.Reshape((28, 28))(inputs)
    plain = layers.Activation("tanh")(layers.Dense(12, name="plain")(rows))
    x = layers.Masking()(layers.Dense(12, use_bias=False, name="masked")(rows))
    y = layers.LayerNormalization()(x)
    x = layers.Add()([x, layers.MultiHeadAttention(2, 4, use_bias=False)(y, y)])
    x = layers.LSTM(10, return_sequences=True)(layers.Concatenate()([x, plain]))
    x = layers.Bidirectional(layers.GRU(6, return_sequences=True))(layers.Masking(1.0)(x))
    x = layers.Multiply()([x, layers.Masking()(plain)])
    pooled = [layers.GlobalAveragePooling1D()(each) for each in (plain, x)]
    return keras.Model(inputs, layers.Dense(10)(layers.Concatenate()(pooled)))


def statistics():
    """Moments of the rows that are not padding."""
    inputs = keras.Input((28, 28, 1))
    x = layers.Masking()(layers.Dense(12, use_bias=False)(layers.Reshape((28, 28))(inputs)))
    x = layers.LSTM(10, return_sequences=True)(layers.BatchNormalization(momentum=0.9)(x))
    x = layers.GlobalAveragePooling1D()(layers.BatchNormalization(momentum=0.9, scale=False)(x))
    return keras.Model(inputs, layers.Dense(10)(x))


def stepwise():
    """Masks of the steps in each step, and of a Softmax by hand."""
    image, mask = keras.Input((28, 28, 1), name="image"), keras.Input((28, 28), dtype="bool", name="mask")
    pieces = layers.Masking()(layers.Reshape((4, 28, 7))(image))
    x = layers.Conv1D(8, 1, activation="tanh")(layers.TimeDistributed(layers.LSTM(8))(pieces))
    rows = layers.Dense(8, activation="tanh")(layers.Reshape((28, 28))(image))
    weights = layers.Softmax()(layers.Dot(2)([rows, rows]), mask=mask)
    pooled = [layers.GlobalMaxPooling1D()(each) for each in (x, layers.Dot((2, 1))([weights, rows]))]
    return keras.Model([image, mask], layers.Dense(10)(layers.Concatenate()(pooled)))


def operators():
    """Attention as it is written by hand: an operator carries no mask on."""
    inputs = keras.Input((28, 28, 1))
    rows = layers.Reshape((28, 28))(inputs)
    x = layers.Masking()(layers.Dense(12, use_bias=False)(rows))
    x = x + layers.MultiHeadAttention(3, 4, use_bias=False)(x, x)
    x = layers.LayerNormalization()(x)
    y = layers.Masking()(layers.Dense(12, use_bias=False)(rows))
    x = layers.LSTM(12, return_sequences=True)(0.5 * y) - layers.LSTM(12, return_sequences=True)(y) * x
    x = x * layers.LSTM(12, return_sequences=True)(y, training=False)
    x = layers.GlobalAveragePooling1D()(1 - x / 4 + y)
    return keras.Model(inputs, layers.Dense(10)(x))


def keyword():
    """Keras records the mask of a Functional's call with keywords; its layers' order shows that."""
    inputs = keras.Input((28, 12))
    inner = keras.Model(inputs, layers.GRU(12, return_sequences=True)(inputs), name="inner")
    inputs = keras.Input((28, 28, 1))
    rows = layers.Reshape((28, 28))(inputs)
    plain = layers.Dense(12)(layers.Dense(12, activation="tanh")(layers.Dense(12)(rows)))
    x = inner(layers.Masking()(layers.Dense(12)(rows)), training=False)
    x = layers.GlobalAveragePooling1D()(layers.Concatenate()([plain, x]))
    return keras.Model(inputs, layers.Dense(10)(x))


def several():
    """Two inputs and two outputs, one of which is also read by a layer."""
    image, rows = keras.Input((28, 28, 1), name="image"), keras.Input((28,), name="rows")
    x = layers.Conv2D(6, 3, strides=2, activation="tanh")(image)
    x = layers.Concatenate()([layers.GlobalAveragePooling2D()(x), layers.Dense(6, activation="tanh")(rows)])
    is_odd = layers.Dense(1, activation="sigmoid", kernel_regularizer="l2", name="is_odd")(x)
    digit = layers.Dense(10, name="digit")(layers.Concatenate()([x, is_odd]))
    return keras.Model([rows, image], [digit, is_odd])


LOGITS = losses.SparseCategoricalCrossentropy(from_logits=True)
CASES = {
    "tutorial_sgd": (tutorial, lambda: optimizers.SGD(0.01), LOGITS),
    "tutorial_momentum": (tutorial, lambda: optimizers.SGD(0.01, 0.9, nesterov=True), LOGITS),
    "tutorial_adagrad": (tutorial, lambda: optimizers.Adagrad(0.01), LOGITS),
    "tutorial_ftrl": (tutorial, lambda: optimizers.Ftrl(0.01), LOGITS),
    "separable_adam": (separable, lambda: optimizers.Adam(0.001), LOGITS),
    "separable_amsgrad": (separable, lambda: optimizers.Adam(0.001, amsgrad=True), LOGITS),
    "separable_averages": (
        separable,
        lambda: optimizers.Adam(
            0.001, amsgrad=True, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=7
        ),
        LOGITS,
    ),
    # Each side goes on amid an accumulation.
    "separable_accumulation": (
        separable,
        lambda: optimizers.Adam(0.001, gradient_accumulation_steps=7, use_ema=True, clipnorm=1.0),
        LOGITS,
    ),
    "separable_nadam": (separable, lambda: optimizers.Nadam(0.001), LOGITS),
    "tutorial_rmsprop": (tutorial, lambda: optimizers.RMSprop(0.001, momentum=0.5), LOGITS),
    "branches_centered": (
        branches,
        lambda: optimizers.RMSprop(0.001, momentum=0.5, centered=True),
        losses.sparse_categorical_crossentropy,
    ),
    "branches_adamw": (
        branches,
        lambda: optimizers.AdamW(0.001, weight_decay=0.05),
        "sparse_categorical_crossentropy",
    ),
    "branches_schedule": (
        branches,
        lambda: optimizers.SGD(optimizers.schedules.ExponentialDecay(0.05, 10, 0.5), 0.9),
        "sparse_categorical_crossentropy",
    ),
    "nested_adam": (nested, lambda: optimizers.Adam(0.001), LOGITS),
    "shared_momentum": (shared, lambda: optimizers.SGD(0.01, 0.9), LOGITS),
    "parts_adam": (parts, lambda: optimizers.Adam(0.001), LOGITS),
    "recurrent_adam": (recurrent, lambda: optimizers.Adam(0.001), LOGITS),
    "frozen_lamb": (frozen, lambda: optimizers.Lamb(0.001), LOGITS),
    "given_adam": (given, lambda: optimizers.Adam(0.001), LOGITS),
    "statistics_adam": (statistics, lambda: optimizers.Adam(0.001), LOGITS),
    "stepwise_adam": (stepwise, lambda: optimizers.Adam(0.001), LOGITS),
    "masked_adam": (masked, lambda: optimizers.Adam(0.001), LOGITS),
    "operators_adam": (operators, lambda: optimizers.Adam(0.001), LOGITS),
    "keyword_adam": (keyword, lambda: optimizers.Adam(0.001), LOGITS),
    "attention_adam": (attention, lambda: optimizers.Adam(0.001), LOGITS),
    "several_adam": (
        several,
        lambda: optimizers.Adam(0.001),
        {"digit": LOGITS, "is_odd": "binary_crossentropy"},
    ),
}
# A policy, and the names of its cases: how the optimizer in them scales the loss.
MIXED = "mixed_float16"
SCALINGS = {
    MIXED: {},
    "mixed_scaled": {"initial_scale": 1000.0, "dynamic_growth_steps": 15},
}
# Go on from the slots of a legacy file and of a checkpoint of TensorFlow, too.
OTHER_FORMATS = ("separable_adam", "tutorial_rmsprop")
LOSS_WEIGHTS = {"several_adam": {"digit": 1.0, "is_odd": 0.4}}
METRICS = {"several_adam": {"digit": ["accuracy"], "is_odd": ["binary_accuracy", "mae"]}}
SAVING_CALLBACKS = [
    {"ModelCheckpoint": {"filepath": "saved/{epoch:02d}.keras"}},
    {"ModelCheckpoint": {"filepath": "saved.weights.h5", "save_weights_only": True}},
    {"ModelCheckpoint": {"filepath": "saved.h5"}},
]
# Go on from the legacy file of a job.
LEGACY_GOES_ON = ("separable_averages", "tutorial_rmsprop", "nested_adam", "operators_adam", "several_adam")


def randomize(model, rng):
    for variable in model.weights:
        scale = 1 / np.sqrt(max(1, np.prod(variable.shape[:-1])))
        values = rng.normal(0, scale, variable.shape)
        if "gamma" in variable.path or "variance" in variable.path:
            values = 1 + 0.3 * np.abs(values)
        variable.assign(values)


# --- Both sides --------------------------------------------------------------------------------


def examples_of(model, images, labels):
    """What the model reads of the images, and its labels, by the names of its inputs and outputs."""
    if len(model.inputs) == 1:
        return {"images": images}, {"labels": labels}
    known = {"image": images, "rows": images.mean(axis=(2, 3)), "mask": images[..., 0] > 0.1}
    features = {name: known[name] for name in sorted(each.name for each in model.inputs)}
    if len(model.outputs) == 1:
        return features, {"labels": labels}
    return features, {"digit": labels, "is_odd": (labels % 2).astype(np.float32)[:, None]}


def saving_callbacks(name):
    """Keras loads no legacy file with Lamb, and a job with both is refused."""
    return SAVING_CALLBACKS[: 2 if "lamb" in name else 3]


def in_order(arrays, names):
    return next(iter(arrays.values())) if len(arrays) == 1 else [arrays[name] for name in names]


def train_keras(model, features, labels, *callbacks):
    """The loss of each step, and the logs of the epoch."""
    recorder = Recorder()
    history = model.fit(
        in_order(features, [each.name for each in model.inputs]),
        in_order(labels, getattr(model, "output_names", None)),
        BATCH,
        shuffle=False,
        verbose=0,
        callbacks=[recorder, *callbacks],
    )
    return np.array(recorder.losses), {key: values[0] for key, values in history.history.items()}


def train_job(binaries, folder, name, model, features, labels, **more):
    """The folder that the job leaves."""
    np.savez(folder / f"{name}.npz", **features, **labels)
    names = [{each: each for each in side} if len(side) > 1 else next(iter(side)) for side in (features, labels)]
    job = {
        "strategy": "mirrored",
        "model": str(model),
        "data": {"train": {"npz": {"file": f"{name}.npz", "features": names[0], "labels": names[1]}}},
        "batch_size_per_replica": BATCH,
        **more,
    }
    return run_job(binaries, folder, name, job)


def relative(ours, theirs):
    """The largest relative difference of numbers."""
    assert len(ours) == len(theirs)
    return max(abs(a - b) / abs(b) for a, b in zip(ours, theirs))


def slots_by_kind(optimizer):
    """All momentums, all velocities and so on, since one kind may be much smaller than another."""
    kinds = {}
    for variable in optimizer.variables:
        if variable.shape != ():
            kinds.setdefault(variable.path.split("_")[-1], []).append(np.asarray(variable, np.float64))
    return kinds


class Checks:
    def __init__(self):
        self.failures = []

    def at_most(self, what, value, bound):
        verdict = "ok" if value <= bound else "FAILED"
        print(f"  {what:48} {value:9.2e} (at most {bound:.0e}) {verdict}")
        if not value <= bound:
            self.failures.append(what)

    def same_losses(self, what, ours, theirs, bound):
        self.at_most(what, np.max(np.abs(ours - theirs) / np.abs(theirs)), bound)

    def same_model(self, what, ours, theirs):
        """Two compiled models of Keras with equal weights and optimizers."""
        assert type(ours.optimizer) is type(theirs.optimizer), what
        self.at_most(f"{what}: weights", difference(values(ours.weights), values(theirs.weights)), 1e-3)
        states = [slots_by_kind(model.optimizer) for model in (ours, theirs)]
        assert states[0].keys() == states[1].keys(), what
        worst = {kind: difference(states[0][kind], states[1][kind]) for kind in states[1]}
        # A centered RMSprop divides by the root of a difference of nearly equal numbers.
        bound = 1e-1 if getattr(theirs.optimizer, "centered", False) else 1e-2
        self.at_most(f"{what}: slots", max(worst.values(), default=0), bound)
        numbers = [[v for v in values(m.optimizer.variables) if v.shape == ()] for m in (ours, theirs)]
        self.at_most(f"{what}: iterations, learning rate", relative(*numbers), 1e-5)


def load_legacy(path):
    """The model of a legacy file, with the optimizer's state.

    load_model restores of the state only the first numbers: it builds the optimizer for
    `_trainable_variables`, of which a model itself has none. So it does with the files that Keras writes,
    and then cannot train on.
    """
    model = keras.models.load_model(path)
    numbers = values(model.optimizer.variables[:2])
    model.optimizer = type(model.optimizer).from_config(model.optimizer.get_config())
    model.optimizer.build(model.trainable_variables)
    with h5py.File(path) as file:
        state = file["optimizer_weights"]
        names = state.attrs["weight_names"]
        assert len(names) == len(model.optimizer.variables)
        for variable, name in zip(model.optimizer.variables, names):
            variable.assign(state[name][()])
    for ours, theirs in zip(model.optimizer.variables, numbers):
        # Without slots, the number of Nadam stands in the place of a slot.
        assert ours.shape != () or np.asarray(ours) == theirs, ours.path
    return model


def check_legacy(binaries, folder, name, output, saved, examples, checks):
    """A job's legacy file beside its .keras of the same variables, which is `saved` in Keras."""
    legacy = load_legacy(output / "saved.h5")
    assert legacy.compiled
    features = in_order(examples[0], [each.name for each in saved.inputs])
    outputs = [keras.tree.flatten(model.predict(features, verbose=0)) for model in (legacy, saved)]
    checks.at_most("ModelCheckpoint's legacy file in Keras", difference(*outputs), 0)
    checks.same_model("ModelCheckpoint's legacy file in Keras", legacy, saved)
    if name not in LEGACY_GOES_ON:
        return
    ours, _ = train_keras(legacy, *examples)
    theirs, _ = train_keras(saved, *examples)
    checks.same_losses("losses of Keras, going on from a legacy file", ours, theirs, 1e-6)
    job = train_job(binaries, folder, f"{name}_legacy", output / "saved.h5", *examples)
    checks.same_losses("losses, going on from a legacy file", columns(job / "steps.csv")["loss"], theirs, 1e-3)
    checks.same_model("going on from a legacy file", keras.models.load_model(job / "model.keras"), saved)


def run_case(binaries, folder, name, checks):
    make, optimizer, loss = CASES[name]
    print(name, flush=True)
    keras.utils.set_random_seed(1)
    model = make()
    model.compile(
        optimizer(), loss, loss_weights=LOSS_WEIGHTS.get(name), metrics=METRICS.get(name, ["accuracy"])
    )
    model.save(folder / f"{name}_other.keras")
    randomize(model, np.random.default_rng(7))
    checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(folder / f"{name}_checkpoint")
    images, labels = fashion_mnist(2 * STEPS * BATCH)
    halves = [examples_of(model, images[part], labels[part]) for part in HALVES]

    model.save(folder / f"{name}.keras")
    # With `use_ema` it differs from the trained model, which gets the averages when training ends.
    their_file = folder / f"{name}_saved.keras"
    theirs, logs = train_keras(model, *halves[0], keras.callbacks.ModelCheckpoint(their_file))
    saved_by_keras = keras.models.load_model(their_file)
    output = train_job(
        binaries, folder, f"{name}_1", folder / f"{name}.keras", *halves[0], callbacks=saving_callbacks(name)
    )
    checks.same_losses("losses", columns(output / "steps.csv")["loss"], theirs, 1e-4)
    history = columns(output / "history.csv")
    for key, value in logs.items():
        checks.at_most(f"log of {key}", relative(history[key], [value]), 1e-4)
    loaded = keras.models.load_model(output / "model.keras")
    checks.same_model("a job's file in Keras", loaded, model)
    saved = keras.models.load_model(output / "saved" / "01.keras")
    checks.same_model("ModelCheckpoint's file in Keras", saved, saved_by_keras)
    saved = keras.models.load_model(folder / f"{name}_other.keras")
    saved.load_weights(output / "saved.weights.h5")
    checks.same_model("ModelCheckpoint's weights in Keras", saved, saved_by_keras)
    saved = keras.models.load_model(output / "saved" / "01.keras")
    if (output / "saved.h5").exists():
        check_legacy(binaries, folder, name, output, saved, halves[1], checks)
    output = train_job(
        binaries, folder, f"{name}_checkpoint", folder / f"{name}_other.keras", *halves[0], weights=checkpoint
    )
    checks.same_losses("losses from a checkpoint", columns(output / "steps.csv")["loss"], theirs, 1e-4)

    # Each side goes on from what the other wrote.
    model.save(folder / f"{name}_theirs.keras")
    theirs, _ = train_keras(loaded, *halves[1])
    output = train_job(binaries, folder, f"{name}_2", folder / f"{name}_theirs.keras", *halves[1])
    checks.same_losses("losses, going on", columns(output / "steps.csv")["loss"], theirs, 1e-3)
    checks.same_model("both, going on", keras.models.load_model(output / "model.keras"), loaded)
    if name not in OTHER_FORMATS:
        return
    # `model` has not gone on.
    model.save(folder / f"{name}_theirs.h5")
    checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(folder / f"{name}_slots")
    for what, start, more in (
        ("a legacy file", f"{name}_theirs.h5", {}),
        ("a checkpoint", f"{name}_other.keras", {"weights": checkpoint}),
    ):
        job = f"{name}_{what.split()[-1]}_slots"
        output = train_job(binaries, folder, job, folder / start, *halves[1], **more)
        checks.same_losses(f"losses, going on from {what}", columns(output / "steps.csv")["loss"], theirs, 1e-3)
        checks.same_model(f"going on from {what}", keras.models.load_model(output / "model.keras"), loaded)


def run_mixed(binaries, folder, name, checks):
    """A file in mixed precision, whose optimizer is in another. A CPU goes on in float32."""
    print(name, flush=True)
    images, labels = fashion_mnist(2 * STEPS * BATCH)
    keras.config.set_dtype_policy(MIXED)
    mixed = separable()
    halves = [examples_of(mixed, images[part], labels[part]) for part in HALVES]
    mixed.compile(optimizers.LossScaleOptimizer(optimizers.Adam(0.001), **SCALINGS[name]), LOGITS)
    train_keras(mixed, *halves[0])
    mixed.save(folder / f"{name}.keras")
    keras.config.set_dtype_policy("float32")
    model = separable()
    model.compile(optimizers.Adam(0.001), LOGITS)
    model.set_weights(mixed.get_weights())
    model.optimizer.build(model.trainable_variables)
    for ours, theirs in zip(model.optimizer.variables, mixed.optimizer.inner_optimizer.variables):
        ours.assign(theirs)
    theirs, _ = train_keras(model, *halves[1])
    output = train_job(
        binaries, folder, name, folder / f"{name}.keras", *halves[1], callbacks=SAVING_CALLBACKS
    )
    checks.same_losses("losses, going on", columns(output / "steps.csv")["loss"], theirs, 1e-3)
    ours = keras.models.load_model(output / "model.keras")
    legacy = load_legacy(output / "saved.h5")
    for each in (ours, legacy) if SCALINGS[name] else ():
        scaling = each.optimizer
        assert {key: scaling.get_config()[key] for key in SCALINGS[name]} == SCALINGS[name]
        assert float(scaling.dynamic_scale) == float(mixed.optimizer.dynamic_scale)
        assert int(scaling.step_counter) == int(mixed.optimizer.step_counter)
        each.optimizer = scaling.inner_optimizer
    checks.same_model("both, going on", ours, model)
    checks.same_model("ModelCheckpoint's legacy file in Keras", legacy, ours)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--part", default="0/1")
    arguments = parser.parse_args()
    binaries = arguments.binaries.resolve()
    part, parts = map(int, arguments.part.split("/"))
    names = arguments.names or [*CASES, *SCALINGS][part::parts]
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if name in SCALINGS:
                run_mixed(binaries, pathlib.Path(folder), name, checks)
            else:
                run_case(binaries, pathlib.Path(folder), name, checks)
    if checks.failures:
        sys.exit(f"{len(checks.failures)} comparisons failed")


if __name__ == "__main__":
    main()
