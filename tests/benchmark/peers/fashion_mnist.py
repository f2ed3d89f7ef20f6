"""Fashion-MNIST from Debian's dataset-fashion-mnist, and what all peers train on it."""

import gzip
import json
import struct
import time

import numpy as np

FOLDER = "/usr/share/datasets/fashion-mnist"
BATCH_SIZE = 64  # of a replica
LEARNING_RATE = 1e-3


def read_idx(name):
    with gzip.open(f"{FOLDER}/{name}.gz") as file:
        data = file.read()
    rank = data[3]
    shape = struct.unpack(f">{rank}I", data[4:4 + 4 * rank])
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


def train():
    """Images uint8 [60000, 28, 28] and labels uint8 [60000]."""
    return read_idx("train-images-idx3-ubyte"), read_idx("train-labels-idx1-ubyte")


def test():
    """Images uint8 [10000, 28, 28] and labels uint8 [10000]."""
    return read_idx("t10k-images-idx3-ubyte"), read_idx("t10k-labels-idx1-ubyte")


class Report:
    """Prints what a peer reached, a JSON object a line, as the drivers read it."""

    def __init__(self, start):
        self._start = start
        self._epoch_start = None

    def first_step(self):
        self._print(event="first_step", seconds=time.time() - self._start)

    def epoch_begins(self):
        self._epoch_start = time.time()

    def epoch_ends(self, steps, batch_size):
        seconds = time.time() - self._epoch_start
        self._print(event="epoch", steps_per_second=steps / seconds,
                    examples_per_second=steps * batch_size / seconds)

    def evaluation(self, accuracy):
        self._print(event="evaluation", accuracy=float(accuracy))

    @staticmethod
    def _print(**values):
        print(json.dumps(values), flush=True)
