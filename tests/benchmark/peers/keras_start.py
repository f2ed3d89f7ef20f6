"""From a Keras file to the first training step, in Keras.

    keras_start.py make MODEL DATA    writes a compiled ResNet50 of 98 MiB, and examples for it
    keras_start.py run MODEL DATA     loads it, takes a step, and prints seconds as JSON
"""

import json
import sys
import time

START = time.monotonic()

import keras
import numpy as np

BATCH_SIZE = 8
STEPS = 8
SIZE = 64


def make(model_path, data_path):
    model = keras.applications.ResNet50(weights=None, input_shape=(SIZE, SIZE, 3), classes=1000)
    model.compile(keras.optimizers.SGD(0.01), "sparse_categorical_crossentropy")
    model.save(model_path)
    rng = np.random.default_rng(1)
    count = STEPS * BATCH_SIZE
    np.savez(data_path, x=rng.random((count, SIZE, SIZE, 3), np.float32),
             y=np.arange(count, dtype=np.int32))


def run(model_path, data_path):
    data = np.load(data_path)
    imported = time.monotonic()
    model = keras.models.load_model(model_path)
    model.train_on_batch(data["x"][:BATCH_SIZE], data["y"][:BATCH_SIZE])
    end = time.monotonic()
    print(json.dumps({"with_imports": end - START, "from_load_model": end - imported}))


if __name__ == "__main__":
    {"make": make, "run": run}[sys.argv[1]](*sys.argv[2:])
