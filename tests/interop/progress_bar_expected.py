"""Writes progress_bar_expected.json: the bytes that Keras' progress bar writes.

    python -m venv venv && venv/bin/pip install -r tests/interop/requirements.txt
    venv/bin/python tests/interop/progress_bar_expected.py [--check]

Keras' own ProgbarLogger runs on a clock that the cases set.
"""

import json
import os
import time

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
from keras.src.utils import io_utils

import expected_file

KERAS_VERSION = "3.15.1"
START = 1_000_000.0


def case(name, epochs, epoch, total, updates, end):
    """`updates` and `end` are (seconds since the start, step, logs)."""
    result = {
        "name": name,
        "epochs": epochs,
        "epoch": epoch,
        "total": total,
        "updates": [list(update) for update in updates],
        "end": list(end),
    }
    for verbose, key in ((1, "terminal"), (2, "pipe")):
        written = []
        io_utils.print_msg = lambda text, line_break=True: written.append(
            text + ("\n" if line_break else "")
        )
        now = START
        time.time = lambda: now
        logger = keras.callbacks.ProgbarLogger()
        logger.set_params({"verbose": verbose, "epochs": epochs, "steps": total})
        logger.on_train_begin()
        logger.on_epoch_begin(epoch)
        for seconds, step, logs in updates:
            now = START + seconds
            logger.on_train_batch_end(step - 1, dict(sorted(logs.items())))
        now = START + end[0]
        logger.on_epoch_end(epoch, dict(end[1]))
        result[key] = "".join(written)
    return result


def logs(accuracy, loss):
    return {"accuracy": accuracy, "loss": loss}


def validated(accuracy, loss, val_accuracy, val_loss):
    return {
        "accuracy": accuracy,
        "loss": loss,
        "val_accuracy": val_accuracy,
        "val_loss": val_loss,
    }


def make_text():
    assert keras.__version__ == KERAS_VERSION, keras.__version__
    cases = [
        case(
            "a short epoch",
            2,
            0,
            5,
            [
                (0.5, 1, logs(0.0, 2.5)),
                (0.5625, 2, logs(0.125, 1.515)),
                (0.625, 3, logs(0.25, 1.25)),
                (0.6875, 4, logs(0.2, 1.2)),
                (0.75, 5, logs(0.2, 1.21)),
            ],
            (0.9375, validated(0.2, 1.21, 0.2, 0.947)),
        ),
        case(
            "jumps; updates that come too early are not shown",
            10,
            9,
            938,
            [
                (0.25, 1, logs(0.1, 2.3)),
                (0.5, 90, logs(0.7, 0.9)),
                (0.53125, 100, logs(0.7, 0.9)),
                (0.75, 180, logs(0.8, 0.6)),
                (2.5, 933, logs(0.9399, 0.2029)),
                (2.625, 938, logs(0.94, 0.2027)),
            ],
            (2.75, logs(0.94, 0.2027)),
        ),
        case(
            "one epoch has no title; a line that gets shorter",
            1,
            0,
            20,
            [
                (1.0, 1, {"loss": 0.00012}),
                (2.0, 2, {"loss": 1.5}),
                (12.0, 19, {"loss": -0.25}),
            ],
            (13.5, {"loss": -0.25}),
        ),
        case(
            "minutes left",
            3,
            1,
            1000,
            [(1.0, 1, {"loss": 12.0}), (3.25, 3, {"loss": 11.0})],
            (1100.5, {"loss": 0.5}),
        ),
        case(
            "hours left",
            3,
            1,
            100000,
            [(1.0, 1, {"loss": 12.0}), (3.25, 3, {"loss": 11.0})],
            (100500.5, {"loss": 0.5}),
        ),
        case(
            "microseconds a step, and zero",
            2,
            1,
            1000000,
            [
                (0.25, 1, {"loss": 0.0}),
                (1.25, 100000, {"loss": 0.001}),
                (2.25, 500000, {"loss": -0.0005}),
            ],
            (4.5, {"loss": 0.001001}),
        ),
        case(
            "not a number",
            1,
            0,
            3,
            [(0.25, 1, {"loss": float("nan")})],
            (1.0, {"loss": float("nan")}),
        ),
    ]
    text = json.dumps({"keras": KERAS_VERSION, "cases": cases}, indent=1)
    return text.replace("NaN", "null") + "\n"


if __name__ == "__main__":
    expected_file.main("progress_bar_expected.json", make_text)
