"""How fast tf.data reads the examples of a file as float32.

    tensorflow_data.py csv FILE COLUMNS         of so many columns of numbers
    tensorflow_data.py tfrecord FILE FEATURE    of tf.train.Examples: `floats` has 16 numbers,
                                                `pixels` 784 bytes; both have a `label`

Prints the seconds of CPU of a pass as JSON, each way. Of three passes over all examples
the fastest counts. With `--write COUNT` behind it, the file of Examples is made instead.
"""

import json
import random
import sys
import time

import tensorflow as tf

BATCH_SIZE = 512


def csv_dataset(path, columns):
    rows = tf.data.experimental.CsvDataset(path, [tf.float32] * int(columns), header=True)
    return rows.batch(BATCH_SIZE)


def decode_csv(path, columns):
    lines = tf.data.TextLineDataset(path).skip(1).batch(BATCH_SIZE)
    return lines.map(lambda batch: tf.stack(tf.io.decode_csv(batch, [[0.0]] * int(columns)), 1),
                     tf.data.AUTOTUNE)


def features_of(feature):
    kind = (tf.io.FixedLenFeature([16], tf.float32) if feature == "floats" else
            tf.io.FixedLenFeature([], tf.string))
    return {feature: kind, "label": tf.io.FixedLenFeature([], tf.int64)}


def values(parsed, feature):
    if feature == "floats":
        return parsed[feature], parsed["label"]
    return tf.cast(tf.io.decode_raw(parsed[feature], tf.uint8), tf.float32), parsed["label"]


def parse_example(path, feature):
    records = tf.data.TFRecordDataset(path).batch(BATCH_SIZE)
    return records.map(lambda batch: values(tf.io.parse_example(batch, features_of(feature)), feature),
                       tf.data.AUTOTUNE)


def parse_single_example(path, feature):
    records = tf.data.TFRecordDataset(path)
    return records.map(lambda record: values(tf.io.parse_single_example(record, features_of(feature)),
                                             feature), tf.data.AUTOTUNE).batch(BATCH_SIZE)


WAYS = {"csv": (csv_dataset, decode_csv), "tfrecord": (parse_example, parse_single_example)}


def write_records(path, feature, count):
    chance = random.Random(1)
    with tf.io.TFRecordWriter(path) as writer:
        for _ in range(count):
            if feature == "floats":
                value = tf.train.Feature(float_list=tf.train.FloatList(
                    value=[chance.gauss(0, 10) for _ in range(16)]))
            else:
                value = tf.train.Feature(bytes_list=tf.train.BytesList(value=[chance.randbytes(784)]))
            label = tf.train.Feature(int64_list=tf.train.Int64List(value=[chance.randrange(10)]))
            example = tf.train.Example(features=tf.train.Features(feature={feature: value, "label": label}))
            writer.write(example.SerializeToString())


def seconds_of_pass(dataset):
    start = time.process_time()
    for _ in dataset:
        pass
    return time.process_time() - start


def main():
    kind, path, what, *write = sys.argv[1:]
    if write:
        return write_records(path, what, int(write[1]))
    result = {}
    for make in WAYS[kind]:
        dataset = make(path, what).prefetch(tf.data.AUTOTUNE)
        result[make.__name__] = min(seconds_of_pass(dataset) for _ in range(3))
    return print(json.dumps(result))


if __name__ == "__main__":
    main()
