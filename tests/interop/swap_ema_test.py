"""SwapEMAWeights and ModelCheckpoint beside the real Keras.

    python3 swap_ema_test.py BINARIES

Keras trains a small model whose optimizer averages the variables, validates the averages, and saves
the model before and after SwapEMAWeights in the list of callbacks, and within epochs. Jobs do the
same from its file under several strategies. Then the losses and all values in the files must be equal.
"""

import pathlib
import sys
import tempfile

# First, since it says on what TensorFlow runs.
from both_sides import columns, difference, fashion_mnist, run_job, values

import keras
import numpy as np
from keras import layers

TRAINED = 320
VALIDATED = 96
BATCH = 32
EPOCHS = 3
# Batches after which the model is saved within epochs, which have 10.
FREQUENCY = 7
FILES = {"before": "before-{epoch}.keras", "after": "after-{epoch}.keras",
         "batch": "batch-{epoch}-{batch:02d}.keras"}
STRATEGIES = {
    "mirrored": {"strategy": "mirrored"},
    "two replicas": {"strategy": "mirrored", "devices": 2},
    "central storage": {"strategy": "central_storage", "devices": 2},
    "peers": {"strategy": "multi_worker_mirrored", "cluster": {"worker": 2}},
    "servers": {"strategy": "parameter_server", "cluster": {"ps": 2, "worker": 1}},
    "servers in step": {"strategy": "parameter_server", "consistency": "sync",
                        "cluster": {"ps": 2, "worker": 2}},
}


def callbacks(swap_on_epoch):
    """Of Keras' fit and of a job: classes and their arguments."""
    return [
        ("ModelCheckpoint", {"filepath": FILES["before"]}),
        ("SwapEMAWeights", {"swap_on_epoch": swap_on_epoch}),
        ("ModelCheckpoint", {"filepath": FILES["after"]}),
        ("ModelCheckpoint", {"filepath": FILES["batch"], "save_freq": FREQUENCY}),
    ]


def make_model():
    keras.utils.set_random_seed(3)
    model = keras.Sequential([
        keras.Input((28, 28, 1)),
        layers.Conv2D(4, 3, strides=2, activation="tanh"),
        layers.Flatten(),
        layers.Dense(12, activation="tanh"),
        layers.Dense(10),
    ])
    # As frozen variables, which have no averages.
    model.layers[0].trainable = False
    model.compile(keras.optimizers.Adam(1 / 256, use_ema=True, ema_momentum=0.875),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return model


def train_in_keras(model, folder, data, swap_on_epoch):
    folder.mkdir()
    made = [getattr(keras.callbacks, name)(**{**config, "filepath": str(folder / config["filepath"])}
                                           if "filepath" in config else config)
            for name, config in callbacks(swap_on_epoch)]
    history = model.fit(data["x"], data["y"], batch_size=BATCH, epochs=EPOCHS, shuffle=False, verbose=0,
                        validation_data=(data["x_val"], data["y_val"]), callbacks=made)
    return {name: np.array(column) for name, column in history.history.items()}


def train_job(binaries, folder, strategy, swap_on_epoch):
    job = {
        "model": "start.keras",
        "data": {"train": {"npz": {"file": "data.npz", "features": "x", "labels": "y"}, "shuffle": False},
                 "validation": {"npz": {"file": "data.npz", "features": "x_val", "labels": "y_val"}}},
        "epochs": EPOCHS,
        "global_batch_size": BATCH,
        "callbacks": [{name: config} for name, config in callbacks(swap_on_epoch)],
        **STRATEGIES[strategy],
    }
    return run_job(binaries, folder, f"{strategy.replace(' ', '_')}-{swap_on_epoch}", job)


def state_of(path):
    """The variables of a model, and those of its optimizer: its slots and averages."""
    model = keras.models.load_model(path)
    return values(model.weights), values(model.optimizer.variables)


def compare_files(ours, theirs, what):
    """Returns how many there are."""
    names = sorted(path.name for path in theirs.glob("*.keras"))
    found = sorted(path.name for path in ours.glob("*-*.keras"))
    assert found == names, f"{what}: {found}, expected {names}"
    for name in names:
        for kind, mine, other in zip(("variables", "optimizer"), state_of(ours / name), state_of(theirs / name)):
            off = difference(mine, other)
            assert off < 1e-4, f"{what}: the {kind} of {name} differ by {off}"
    return len(names)


def compare(binaries, folder, data, swap_on_epoch):
    model = make_model()
    model.save(folder / "start.keras")
    theirs = folder / f"keras-{swap_on_epoch}"
    history = train_in_keras(model, theirs, data, swap_on_epoch)
    for strategy in STRATEGIES:
        what = f"{strategy}, swap_on_epoch={swap_on_epoch}"
        output = train_job(binaries, folder, strategy, swap_on_epoch)
        ours = columns(output / "history.csv")
        for name, column in history.items():
            np.testing.assert_allclose(ours[name], column, rtol=1e-4, atol=1e-5, err_msg=f"{what}: {name}")
        count = compare_files(output, theirs, what)
        # As fit leaves the model.
        off = difference(state_of(output / "model.keras")[0], values(model.weights))
        assert off < 1e-4, f"{what}: model.keras differs by {off}"
        print(f"{what}: val_loss {ours['val_loss'][-1]:.5f} as in Keras, and {count} files")
    return history


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve()
    images, labels = fashion_mnist(TRAINED + VALIDATED)
    data = {"x": images[:TRAINED], "y": labels[:TRAINED], "x_val": images[TRAINED:], "y_val": labels[TRAINED:]}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        np.savez(folder / "data.npz", **data)
        for swap_on_epoch in (False, True):
            history = compare(binaries, folder, data, swap_on_epoch)
        # The averages are not the variables.
        model = keras.models.load_model(folder / "keras-True" / "before-1.keras")
        loss = model.evaluate(data["x_val"], data["y_val"], verbose=0)[0]
        assert abs(loss - history["val_loss"][0]) > 0.01, (loss, history)


if __name__ == "__main__":
    main()
