"""How fast tf.data reads the rows of a CSV file of float32.

    tensorflow_csv.py FILE COLUMNS     prints the seconds of CPU of a pass as JSON, each way

Of three passes over all rows the fastest counts.
"""

import json
import sys
import time

import tensorflow as tf

BATCH_SIZE = 512


def csv_dataset(path, columns):
    rows = tf.data.experimental.CsvDataset(path, [tf.float32] * columns, header=True)
    return rows.batch(BATCH_SIZE)


def decode_csv(path, columns):
    lines = tf.data.TextLineDataset(path).skip(1).batch(BATCH_SIZE)
    return lines.map(lambda batch: tf.stack(tf.io.decode_csv(batch, [[0.0]] * columns), 1),
                     tf.data.AUTOTUNE)


def seconds_of_pass(dataset):
    start = time.process_time()
    for _ in dataset:
        pass
    return time.process_time() - start


def main():
    path, columns = sys.argv[1], int(sys.argv[2])
    result = {}
    for make in (csv_dataset, decode_csv):
        dataset = make(path, columns).prefetch(tf.data.AUTOTUNE)
        result[make.__name__] = min(seconds_of_pass(dataset) for _ in range(3))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
