"""Writes progress_bar_expected.json: the bytes that Keras' progress bars write.

    python -m venv venv && venv/bin/pip install -r tests/interop/requirements.txt
    venv/bin/pip install --no-deps -r tests/interop/requirements_no_deps.txt
    venv/bin/python tests/interop/progress_bar_expected.py [--check]

The ProgbarLoggers of Keras 3 and of Keras 2 (tf_keras) run on a clock that the
cases set.
"""

import json
import os
import time

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
import keras.src.utils.io_utils
import tf_keras
import tf_keras.src.utils.io_utils

import expected_file

VERSIONS = {"keras": "3.15.1", "tf_keras": "2.21.0"}
START = 1_000_000.0


def show(style, verbose, case):
    """What a version of Keras writes of an epoch."""
    written = []
    io_utils = (keras if style == "keras3" else tf_keras).src.utils.io_utils
    io_utils.print_msg = lambda text, line_break=True: written.append(
        text + ("\n" if line_break else "")
    )
    now = START
    time.time = lambda: now
    # Both show what the logs have, and no mean of it.
    if style == "keras3":
        logger = keras.callbacks.ProgbarLogger()
    else:
        names = {name for _, _, logs in case["updates"] for name, _ in logs}
        logger = tf_keras.callbacks.ProgbarLogger("steps", names | {n for n, _ in case["end"][1]})
    total = case["total"] or None
    logger.set_params({"verbose": verbose, "epochs": case["epochs"], "steps": total})
    is_training = not case["is_evaluation"]
    if is_training:
        logger.on_train_begin()
        logger.on_epoch_begin(case["epoch"])
    else:
        logger.on_test_begin()
    in_order = sorted if style == "keras3" else list
    for seconds, step, logs in case["updates"]:
        now = START + seconds
        update = logger.on_train_batch_end if is_training else logger.on_test_batch_end
        update(step - 1, dict(in_order(logs)))
    seconds, logs = case["end"]
    now = START + seconds
    # Those of a validation come last.
    trained = [each for each in logs if not each[0].startswith("val_")]
    validated = [each for each in logs if each[0].startswith("val_")]
    end = dict(in_order(trained) + in_order(validated))
    if is_training:
        logger.on_epoch_end(case["epoch"], end)
    else:
        logger.on_test_end(end)
    return "".join(written)


def case(name, epochs, epoch, total, updates, end, is_evaluation=False):
    """`updates` and `end` are (seconds since the start, step, logs).

    Logs are in the order of sessions, the loss first. A `total` of 0 is unknown.
    """
    result = {
        "name": name,
        "epochs": epochs,
        "epoch": epoch,
        "total": total,
        "is_evaluation": is_evaluation,
        "updates": [[*update[:-1], list(update[-1].items())] for update in updates],
        "end": [end[0], list(end[1].items())],
    }
    for style in ("keras3", "keras2"):
        result[style] = {
            "bar": show(style, 1, result),
            "lines": show(style, 2, result),
        }
    return result


def logs(accuracy, loss):
    return {"loss": loss, "accuracy": accuracy}


def validated(accuracy, loss, val_accuracy, val_loss):
    return {
        "loss": loss,
        "accuracy": accuracy,
        "val_loss": val_loss,
        "val_accuracy": val_accuracy,
    }


def make_text():
    made_by = {"keras": keras.__version__, "tf_keras": tf_keras.__version__}
    assert made_by == VERSIONS, made_by
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
        case(
            "several metrics, in another order than that of their names",
            5,
            2,
            64,
            [
                (0.125, 1, {"loss": 7.5, "top_5": 0.0, "auc": 0.5, "a_loss": 1e-4}),
                (0.375, 2, {"loss": 7.25, "top_5": -1e-4, "auc": -0.5, "a_loss": 123456.789}),
                (3.0, 33, {"loss": 5.25, "top_5": 0.001, "auc": 0.75, "a_loss": 4.0}),
                (5.0, 64, {"loss": 5.0, "top_5": 0.5, "auc": 0.75, "a_loss": 3.0}),
            ],
            (
                61.5,
                {
                    "loss": -5.0,
                    "top_5": 0.5,
                    "auc": 0.75,
                    "a_loss": 3.0,
                    "val_loss": 4.5,
                    "val_top_5": 0.25,
                    "val_auc": float("nan"),
                    "val_a_loss": -1e-5,
                },
            ),
        ),
        case(
            "a name that is not ASCII, and a line that gets shorter",
            1,
            0,
            10,
            [
                (0.5, 1, {"loss": 1.0, "präzision": 1e-4}),
                (1.5, 5, {"loss": 1.0, "präzision": 0.5}),
            ],
            (2.0, {"loss": 1.0, "präzision": 0.75}),
        ),
        case(
            "an unknown number of steps",
            2,
            0,
            0,
            [
                (0.5, 1, logs(0.0, 2.5)),
                (0.5625, 2, logs(0.125, 1.515)),
                (1000.5, 12345678, logs(0.25, 1.25)),
            ],
            (1002.0, validated(0.2, 1.21, 0.2, 0.947)),
        ),
        case(
            "a single step",
            2,
            1,
            1,
            [(0.0625, 1, logs(0.5, 0.5))],
            (0.125, logs(0.5, 0.5)),
        ),
        case(
            "times on the edges of their units",
            2,
            1,
            61,
            [
                (0.0, 1, logs(0.5, 0.5)),
                (1.0, 2, logs(0.5, 0.5)),
                (60.0, 3, logs(0.5, 0.5)),
                (180.0, 4, logs(0.5, 0.5)),
                (3540.0, 60, logs(0.5, 0.5)),
            ],
            (3600.5, logs(0.5, 0.5)),
        ),
        case(
            "an evaluation",
            1,
            0,
            5,
            [(0.25, 1, logs(0.25, 2.0)), (0.5, 3, logs(0.5, 1.5))],
            (0.75, logs(0.75, 1.25)),
            is_evaluation=True,
        ),
    ]
    text = json.dumps({**VERSIONS, "cases": cases}, indent=1)
    return text.replace("NaN", "null") + "\n"


if __name__ == "__main__":
    expected_file.main("progress_bar_expected.json", make_text)
