"""How fast tf.data makes batches of a folder of JPEGs.

    tensorflow_images.py plain|augmented FOLDER SIDE BATCH_SIZE seconds|cpu

`plain`: decoded and resized to SIDE x SIDE. `augmented`: resized to 8/7 of it, then a random
crop, flips, zoom and contrast. Prints the rate in images a second of each way of writing
it as JSON, or, with `cpu`, in images a second of CPU of all threads. A pass over the data that
is not timed goes before.
"""

import json
import sys
import time

import keras
import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE


def decoded(side):
    def load(path):
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        return tf.image.resize(image, [side, side])
    return load


def images_of(folder, side):
    """Decoded and resized, in any order, as fast as they come."""
    options = tf.data.Options()
    options.deterministic = False
    files = tf.data.Dataset.list_files(f"{folder}/*/*", shuffle=False).with_options(options)
    return files.map(decoded(side), AUTOTUNE)


def directory(folder, side, batch_size):
    return keras.utils.image_dataset_from_directory(
        folder, image_size=(side, side), batch_size=batch_size, shuffle=False, verbose=False)


def plain(folder, side, batch_size):
    yield "map", images_of(folder, side).batch(batch_size, num_parallel_calls=AUTOTUNE)
    yield "image_dataset_from_directory", directory(folder, side, batch_size)


def zoomed(images):
    """As RandomZoom with `reflect` does, by the operation that is behind it."""
    count, height, width = tf.shape(images)[0], images.shape[1], images.shape[2]
    scale = 1 + tf.random.uniform([count, 2], -0.2, 0.2)
    shift = (1 - scale) * tf.constant([(width - 1) / 2, (height - 1) / 2])
    zeros = tf.zeros([count])
    matrix = tf.stack([scale[:, 0], zeros, shift[:, 0], zeros, scale[:, 1], shift[:, 1],
                       zeros, zeros], axis=1)
    return tf.raw_ops.ImageProjectiveTransformV3(
        images=images, transforms=matrix, output_shape=[height, width], fill_value=0.0,
        interpolation="BILINEAR", fill_mode="REFLECT")


def augment_one(side):
    def augment(image):
        image = tf.image.random_crop(image, [side, side, 3])
        image = tf.image.random_flip_left_right(image)
        image = zoomed(image[tf.newaxis])[0]
        return tf.image.random_contrast(image, 0.8, 1.2)
    return augment


def augmented(folder, side, batch_size):
    images = images_of(folder, side * 8 // 7)
    yield "tf.image", images.map(augment_one(side), AUTOTUNE).batch(
        batch_size, num_parallel_calls=AUTOTUNE)
    layers = keras.Sequential([keras.layers.RandomCrop(side, side), keras.layers.RandomFlip("horizontal"),
                               keras.layers.RandomZoom(0.2), keras.layers.RandomContrast(0.2)])
    batches = images.batch(batch_size, num_parallel_calls=AUTOTUNE)
    yield "keras.layers", batches.map(lambda batch: layers(batch, training=True), AUTOTUNE)


def rate(dataset, examples, clock):
    dataset = dataset.prefetch(AUTOTUNE)
    for _ in dataset:
        pass
    start = clock()
    for _ in dataset:
        pass
    return examples / (clock() - start)


def main():
    kind, folder, side, batch_size, unit = sys.argv[1:]
    clock = time.process_time if unit == "cpu" else time.perf_counter
    examples = len(tf.io.gfile.glob(f"{folder}/*/*"))
    ways = {"plain": plain, "augmented": augmented}[kind]
    print(json.dumps({name: rate(dataset, examples, clock)
                      for name, dataset in ways(folder, int(side), int(batch_size))}))


if __name__ == "__main__":
    main()
