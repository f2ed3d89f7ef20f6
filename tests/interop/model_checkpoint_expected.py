"""Writes model_checkpoint_expected.json: what Keras' ModelCheckpoint saves and prints.

    python -m venv venv && venv/bin/pip install -r tests/interop/requirements.txt
    venv/bin/python tests/interop/model_checkpoint_expected.py [--check]

The callback gets the logs of some epochs, or of the batches in them, and a model that only notes
where it is saved. Names of files are formatted by Python.
"""

import json
import os
import warnings

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
from keras.src.utils import io_utils

import expected_file
from callbacks_expected import MODEL, finite

KERAS_VERSION = "3.15.1"
NUMBERS = [0.0, 1.0, -0.125, 0.5, 1234.5678, 1e-7, 1e16, float("inf"), float("nan")]
FORMATS = ["", ":.2f", ":.0f", ":08.3f", ":+.1e", ": g", ":<9.2f", ":*^+11.3f", ":=9", ":.3G",
           ":.1%", ":09E", ":<06.1f", ":F", ":>12"]
EPOCHS = [1, 7, 12345, -3]
EPOCH_FORMATS = ["", ":02d", ":d", ":5", ":<5d", ":^+7d", ":06", ":.1f", ":x=+8d", ":e"]


def make_callback(config, events):
    """What the callback does goes to the last of `events`."""
    io_utils.print_msg = lambda text, line_break=True: events[-1]["printed"].append(text)
    MODEL.save = lambda path, overwrite: events[-1].update(saved=path, is_weights_only=False)
    MODEL.save_weights = lambda path, overwrite: events[-1].update(saved=path,
                                                                   is_weights_only=True)
    callback = keras.callbacks.ModelCheckpoint(**config)
    callback.set_model(MODEL)
    return callback


def case(name, config, epochs):
    events = []
    callback = make_callback(config, events)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("default")
        callback.on_train_begin()
        for epoch, logs in enumerate(epochs):
            events.append({"printed": [], "saved": None})
            callback.on_epoch_begin(epoch)
            callback.on_epoch_end(epoch, dict(logs))
        callback.on_train_end()
    return {"name": name, "config": config, "epochs": epochs, "events": events,
            "warned": [str(each.message) for each in warned]}


def batch_case(name, config, epochs):
    """`epochs`: for each the logs of its batches, of which the last are those of its end, too."""
    events = []
    callback = make_callback(config, events)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("default")
        callback.on_train_begin()
        for epoch, batches in enumerate(epochs):
            callback.on_epoch_begin(epoch)
            for batch, logs in enumerate(batches):
                events.append({"printed": [], "saved": None})
                callback.on_train_batch_end(batch, dict(logs))
            events.append({"printed": [], "saved": None})
            callback.on_epoch_end(epoch, {**batches[-1], "val_loss": 0.5})
        callback.on_train_end()
    return {"name": name, "config": config, "epochs": epochs, "events": events,
            "warned": [str(each.message) for each in warned]}


def falling(*counts):
    """The logs of epochs that have so many batches."""
    return [[{"accuracy": 0.125 * batch, "loss": 4 - epoch - 0.25 * batch}
             for batch in range(count)] for epoch, count in enumerate(counts)]


def batch_cases():
    file = "{epoch:02d}-{batch:03d}.keras"
    return [
        batch_case("each batch", {"filepath": file, "save_freq": 1}, falling(2, 3)),
        batch_case("batches are counted over epochs",
                   {"filepath": file, "save_freq": 3, "verbose": 1}, falling(4, 4, 4)),
        batch_case("at the last batch of an epoch", {"filepath": file, "save_freq": 4},
                   falling(4, 4)),
        batch_case("more batches than an epoch has", {"filepath": file, "save_freq": 5},
                   falling(2, 2, 2, 2, 2)),
        batch_case("epochs of one batch", {"filepath": file, "save_freq": 2},
                   falling(1, 1, 1, 1, 1)),
        batch_case("weights, with the values of the batch",
                   {"filepath": "a/{loss:.2f}-{accuracy:.3f}.weights.h5", "save_freq": 2,
                    "save_weights_only": True, "verbose": 1}, falling(5, 2)),
        batch_case("only the best",
                   {"filepath": file, "save_freq": 3, "save_best_only": True, "verbose": 1,
                    "monitor": "loss"}, [*falling(3, 6), *falling(3, 4)]),
        batch_case("the logs of batches have nothing of the validation",
                   {"filepath": file, "save_freq": 2, "save_best_only": True, "verbose": 1},
                   falling(4, 4)),
        batch_case("a threshold of a value in the logs of batches",
                   {"filepath": file, "save_freq": 4, "save_best_only": True, "verbose": 1,
                    "monitor": "accuracy"}, falling(4, 5, 6)),
    ]


def losses(*values):
    return [{"loss": 2 * value, "val_loss": value} for value in values]


def cases():
    best = {"filepath": "best.keras", "save_best_only": True, "verbose": 1}
    nan, inf = float("nan"), float("inf")
    return [
        case("each epoch", {"filepath": "model-{epoch:02d}.keras"}, losses(1.0, 0.5, 0.7)),
        case("each epoch is told", {"filepath": "x.keras", "verbose": 1}, losses(1.0, 2.0)),
        case("only the best", best, losses(1.0, 0.5, 0.7, 0.5, 0.31234)),
        case("only the best, silently", {**best, "verbose": 0}, losses(1.0, 0.5, 0.7)),
        case("only weights", {"filepath": "a/{epoch}-{val_loss:.2f}.weights.h5", "verbose": 1,
                              "save_weights_only": True}, losses(1.005, 0.5)),
        case("the best weights by accuracy",
             {**best, "filepath": "{accuracy:.3f}.weights.h5", "save_weights_only": True,
              "monitor": "accuracy"},
             [{"accuracy": value} for value in (0.25, 0.5, 0.5, 0.75)]),
        case("mode max", {**best, "mode": "max"}, losses(0.1, 0.3, 0.2)),
        case("a threshold", {**best, "initial_value_threshold": 0.6}, losses(1.0, 0.5, 0.7)),
        case("a threshold that is whole", {**best, "initial_value_threshold": 1},
             losses(1.0, 0.5)),
        case("a value that is missing", best, [{"loss": 1.0}, {"loss": 2.0}]),
        case("a value that some epochs lack", best,
             [{"loss": 1.0}, {"loss": 1.0, "val_loss": 0.5}, {"loss": 1.0},
              {"loss": 1.0, "val_loss": 0.7}]),
        case("no number", best, losses(nan, 1.0, nan)),
        case("no number later", best, losses(1.0, nan, inf, -inf)),
        case("a difference that float32 has not", best, losses(0.5, 0.5 - 1e-9)),
    ]


def formats():
    texts = [(f"{{loss{form}}}", number) for form in FORMATS for number in NUMBERS]
    texts += [(f"{{epoch{form}}}", epoch) for form in EPOCH_FORMATS for epoch in EPOCHS]
    texts += [("a{{b}}-{epoch:02d}/c{{", 3)]
    return [{"template": text, "value": value, "text": text.format(epoch=value, loss=value)}
            for text, value in texts]


def make_text():
    assert keras.__version__ == KERAS_VERSION, keras.__version__
    expected = {"keras": KERAS_VERSION, "cases": cases(), "batch_cases": batch_cases(),
                "formats": formats()}
    return json.dumps(finite(expected), indent=1) + "\n"


if __name__ == "__main__":
    expected_file.main("model_checkpoint_expected.json", make_text)
