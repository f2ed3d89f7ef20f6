"""Writes rate_callbacks_expected.json: learning rates as Keras' callbacks and Python give them.

    python -m venv venv && venv/bin/pip install -r tests/interop/requirements.txt
    venv/bin/python tests/interop/rate_callbacks_expected.py [--check]

ReduceLROnPlateau and LearningRateScheduler get the events of epochs whose losses are given.
Expressions of a schedule are evaluated by Python.
"""

import json
import math
import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
from keras.src.utils import io_utils

import expected_file

KERAS_VERSION = "3.15.1"
# A plateau, an improvement too small to count, and a real one; then another plateau.
LOSSES = [1.0, 0.9, 0.9, 0.90005, 0.89995, 0.7, 0.7, 0.71, 0.7, 0.72, 0.7, 0.7, 0.65, 0.66, 0.67]
FUNCTIONS = {
    "where": lambda condition, a, b: a if condition else b,
    "pi": math.pi,
    **{name: getattr(math, name) for name in ("cos", "exp", "floor", "log", "pow", "sqrt")},
}
VARIABLES = [
    {"epoch": 0, "step": 0, "lr": 0.1, "num_replicas": 1},
    {"epoch": 3, "step": 300, "lr": 0.01, "num_replicas": 2},
    {"epoch": 10, "step": 1000, "lr": 0.25, "num_replicas": 4},
]
EXPRESSIONS = [
    "0.001",
    "lr if epoch < 3 else lr * exp(-0.1)",
    "1e-3 if epoch < 3 else 1e-4 if epoch < 7 else 1e-5",
    "0.01 * num_replicas * min(1, (epoch + 1) / 5)",
    "0.5 * 0.1 * (1 + cos(pi * epoch / 10))",
    "0.1 * 0.5 ** (epoch // 3)",
    "-2 ** 2 + 2 ** -1 + 2 ** 3 ** 2",
    "-epoch // 4 + -7 % 4 + 7 % -4 + 6.0 // 0.1",
    "1 < epoch <= 3 and lr or .5",
    "not epoch == 3 and 1. or 2e-3",
    "where(step >= 300, max(lr, 0.05, 0.02), pow(lr, 2))",
    "1 - 2 - 3 + 8 / 4 / 2 * +3 - - 1",
    "max(epoch != 3, epoch > 3) * sqrt(lr) + log(1 + step) + abs(-lr) + floor(lr * 10)",
    "(1 if epoch else 2) if lr > 0.05 else (3 if step else 4)",
]


class Rates:
    """An optimizer's rate, and what a callback prints."""

    def __init__(self, callback, rate):
        self.model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        self.model.compile(keras.optimizers.SGD(rate), "mse")
        self.callback = callback
        self.callback.set_model(self.model)
        self.callback.on_train_begin()

    def epoch(self, number, loss):
        """The logs' rate, the rate afterwards and the messages of an epoch."""
        messages = []
        io_utils.print_msg = lambda text, line_break=True: messages.append(text)
        self.callback.on_epoch_begin(number)
        logs = {"loss": loss}
        self.callback.on_epoch_end(number, logs)
        return [logs["learning_rate"], float(self.model.optimizer.learning_rate.numpy()), messages]


def case(name, rate, config, callback):
    rates = Rates(callback(verbose=1, **config), rate)
    class_name = callback.__name__
    epochs = [rates.epoch(*event) for event in enumerate(LOSSES)]
    return {"name": name, "class_name": class_name, "config": config, "rate": rate, "epochs": epochs}


def plateau(name, rate=0.1, **config):
    return case(name, rate, {"monitor": "loss"} | config, keras.callbacks.ReduceLROnPlateau)


def scheduler(name, expression):
    def schedule(epoch, lr):
        return evaluated(expression, {"epoch": epoch, "lr": lr})

    made = case(name, 0.1, {"schedule": schedule}, keras.callbacks.LearningRateScheduler)
    return made | {"config": {"schedule": expression}}


def evaluated(expression, variables):
    return eval(expression, {}, FUNCTIONS | variables)  # noqa: S307


def make_text():
    assert keras.__version__ == KERAS_VERSION, keras.__version__
    cases = [
        plateau("of one epoch", patience=1),
        plateau("the defaults", rate=0.01),
        plateau("patience 0", patience=0, factor=0.5),
        plateau("cooldown", patience=1, factor=0.5, cooldown=2),
        plateau("cooldown 1 is none", patience=2, factor=0.5, cooldown=1),
        plateau("a smallest rate", patience=1, factor=0.3, min_lr=0.005),
        plateau("every change counts", patience=1, min_delta=0),
        plateau("large changes count", patience=2, min_delta=0.15),
        plateau("more is better", patience=3, mode="max", factor=0.2),
        plateau("the rate itself", patience=2, monitor="learning_rate", mode="min", factor=0.5),
        scheduler("steps", "0.001 if epoch < 3 else 0.0001"),
        scheduler("decay", "lr if epoch < 5 else lr * exp(-0.1)"),
    ]
    expressions = [
        {"text": text, "variables": variables, "value": float(evaluated(text, variables))}
        for text in EXPRESSIONS
        for variables in VARIABLES
    ]
    made = {"keras": KERAS_VERSION, "losses": LOSSES, "cases": cases, "expressions": expressions}
    return json.dumps(made, indent=1) + "\n"


if __name__ == "__main__":
    expected_file.main("rate_callbacks_expected.json", make_text)
