"""Writes callbacks_expected.json: what Keras' callbacks do with given logs.

    python -m venv venv && venv/bin/pip install -r tests/interop/requirements.txt
    venv/bin/python tests/interop/callbacks_expected.py [--check]

Keras' own callbacks get the logs of some epochs, and a model that only has metrics.
"""

import json
import math
import os
import pathlib
import tempfile
import warnings

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
import numpy
from keras.src.utils import io_utils

import expected_file

KERAS_VERSION = "3.15.1"


def small_model():
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["accuracy", "mae", keras.metrics.AUC(name="auc")])
    model.train_on_batch(numpy.zeros((2, 1)), numpy.zeros((2, 1)))
    return model


MODEL = small_model()


def run(callback, epochs):
    """Until the callback ends training: which epoch did, what was printed and warned, and the
    epoch whose weights the model has then."""
    printed = []
    io_utils.print_msg = lambda text, line_break=True: printed.append(text)
    MODEL.stop_training = False
    callback.set_model(MODEL)
    stopped = None
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("default")
        callback.on_train_begin()
        for epoch, logs in enumerate(epochs):
            MODEL.set_weights([numpy.full_like(each, epoch) for each in MODEL.get_weights()])
            callback.on_epoch_end(epoch, dict(logs))
            if MODEL.stop_training:
                stopped = epoch
                break
        callback.on_train_end()
    weights = int(MODEL.get_weights()[0][0, 0])
    return stopped, printed, [str(each.message) for each in warned], weights


def early_stopping(name, config, epochs):
    stopped, printed, warned, weights = run(keras.callbacks.EarlyStopping(**config), epochs)
    return {"name": name, "config": config, "epochs": epochs, "stopped": stopped,
            "printed": printed, "warned": warned, "weights": weights}


def restoring(name, config, epochs):
    return early_stopping(name, {**config, "restore_best_weights": True, "verbose": 1}, epochs)


def series(key, values):
    return [{key: value} for value in values]


def early_stopping_cases():
    falling_then_flat = [1.0, 0.5, 0.4, 0.41, 0.4, 0.45, 0.39]
    inf = float("inf")
    return [
        early_stopping("patience 0 stops at the first epoch that is not better", {"verbose": 1},
                       series("val_loss", falling_then_flat)),
        early_stopping("patience 2", {"patience": 2, "verbose": 1},
                       series("val_loss", falling_then_flat)),
        early_stopping("patience 4 sees the last improvement", {"patience": 4},
                       series("val_loss", falling_then_flat)),
        early_stopping("an accuracy is better if it is larger", {"monitor": "val_accuracy"},
                       series("val_accuracy", [0.1, 0.2, 0.3, 0.25])),
        early_stopping("an error is better if it is smaller", {"monitor": "mae"},
                       series("mae", [0.3, 0.2, 0.1, 0.15])),
        early_stopping("an AUC is better if it is larger", {"monitor": "auc"},
                       series("auc", [0.1, 0.2, 0.3, 0.25])),
        early_stopping("mode max of a loss", {"mode": "max", "patience": 1},
                       series("val_loss", [0.1, 0.2, 0.3, 0.25])),
        early_stopping("min_delta, whose sign does not matter",
                       {"min_delta": -0.1, "patience": 2},
                       series("val_loss", [1.0, 0.95, 0.85, 0.8, 0.76, 0.6])),
        early_stopping("the difference is not one of float32", {"patience": 1},
                       series("val_loss", [0.5, 0.5 - 1e-9, 0.4])),
        early_stopping("a baseline that is not reached", {"baseline": 0.3, "patience": 3},
                       series("val_loss", [1.0, 0.9, 0.8, 0.85, 0.7])),
        early_stopping("a baseline that is reached", {"baseline": 0.85, "patience": 3},
                       series("val_loss", [1.0, 0.9, 0.8, 0.85, 0.85, 0.85])),
        early_stopping("epochs at the start do not count", {"start_from_epoch": 3},
                       series("val_loss", [0.1, 1.0, 2.0, 1.5, 1.6])),
        early_stopping("the first epoch never ends training", {"baseline": 0.1},
                       series("val_loss", [1.0, 1.0])),
        early_stopping("no number is no improvement", {"patience": 2},
                       series("val_loss", [0.5, math.nan, math.nan, 0.4])),
        early_stopping("nothing is better than no number at first", {"patience": 2},
                       series("val_loss", [math.nan, 0.5, 0.4])),
        early_stopping("infinity at first", {"patience": 2},
                       series("val_loss", [inf, 0.5, inf, inf])),
        early_stopping("a value that is missing warns once", {"verbose": 1},
                       [{"accuracy": 0.5, "loss": 0.1}] * 3),
        early_stopping("a value that some epochs lack", {"patience": 2},
                       [{"val_loss": 1.0}, {"loss": 1.0}, {"val_loss": 1.5}, {"loss": 1.0},
                        {"val_loss": 1.5}]),
        restoring("the best epoch's weights come back", {"patience": 2},
                  series("val_loss", falling_then_flat)),
        restoring("also if training does not end early", {"patience": 9},
                  series("val_loss", [1.0, 0.5, 0.6, 0.7])),
        restoring("the last epoch is the best", {}, series("val_loss", [1.0, 0.5, 0.4])),
        restoring("the first epoch is the best", {"patience": 2},
                  series("val_loss", [0.1, 0.5, 0.4])),
        restoring("those that do not count are not the best",
                  {"start_from_epoch": 2, "patience": 2},
                  series("val_loss", [0.1, 0.2, 0.5, 0.4, 0.6, 0.6])),
        restoring("no epoch counts", {"start_from_epoch": 9}, series("val_loss", [0.1, 0.2])),
        restoring("no epoch has a value", {}, series("loss", [0.1, 0.2])),
        restoring("a baseline that is not reached, again", {"baseline": 0.3, "patience": 3},
                  series("val_loss", [1.0, 0.9, 0.8, 0.85, 0.7])),
        restoring("no number at first, which is the best", {"patience": 2},
                  series("val_loss", [math.nan, 0.5, 0.4])),
    ]


def csv_logger(name, config, epochs, before=None):
    """`before`: what the file has at first; None: there is none."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "log.csv")
        if before is not None:
            path.write_bytes(before.encode())
        run(keras.callbacks.CSVLogger(str(path), **config), epochs)
        written = path.read_bytes().decode()
    return {"name": name, "config": config, "epochs": epochs, "before": before,
            "written": written}


def csv_logger_cases():
    validated = [{"accuracy": 0.5, "loss": 1.25, "val_accuracy": 0.25, "val_loss": 2.0},
                 {"accuracy": 0.75, "loss": 1e-05, "val_accuracy": 1.0, "val_loss": 0.1}]
    unvalidated = [{"accuracy": 0.0001, "loss": 123456789.125}, {"accuracy": 1 / 3, "loss": 1e16}]
    earlier = "epoch,accuracy,loss\r\n0,0.5,0.5\r\n"
    return [
        csv_logger("with validation", {}, validated),
        csv_logger("without validation there are columns for it", {}, unvalidated),
        csv_logger("values that an epoch lacks", {}, [validated[0], unvalidated[0]]),
        csv_logger("values that the first epoch lacks", {}, [unvalidated[0], validated[0]]),
        csv_logger("a rate that another callback logs comes in its order", {},
                   [{"loss": 1.0, "val_loss": 2.0, "learning_rate": 0.0010000000474974513}]),
        csv_logger("another separator", {"separator": ";"}, validated),
        csv_logger("a separator that is in a number", {"separator": "."}, validated),
        csv_logger("a name with the separator and a quote", {}, [{'a,"b': 1.0, "loss": 2.0}]),
        csv_logger("no numbers", {}, [{"loss": math.nan}, {"loss": math.inf},
                                      {"loss": -math.inf}]),
        csv_logger("numbers of many sizes", {},
                   [{"loss": value} for value in
                    (0.0, -0.0, 1e-4, 9.9e-5, 1.5e-7, 1e15, 1e17, 5e-324, 1.7976931348623157e308,
                     0.1, 100.0, 2.5e22, 123456.7890625)]),
        csv_logger("a file that is there is replaced", {}, unvalidated, earlier),
        csv_logger("appends to a file that is there", {"append": True}, unvalidated, earlier),
        csv_logger("appends to an empty file", {"append": True}, unvalidated, ""),
        csv_logger("appends to no file", {"append": True}, unvalidated),
    ]


def finite(value):
    """With texts in the place of infinities and NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [finite(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def make_text():
    assert keras.__version__ == KERAS_VERSION, keras.__version__
    expected = {"keras": KERAS_VERSION, "early_stopping": early_stopping_cases(),
                "csv_logger": csv_logger_cases()}
    return json.dumps(finite(expected), indent=1) + "\n"


if __name__ == "__main__":
    expected_file.main("callbacks_expected.json", make_text)
