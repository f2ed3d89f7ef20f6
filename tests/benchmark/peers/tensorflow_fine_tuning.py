"""Fine-tunes MobileNetV2 on a folder of JPEGs under TensorFlow 2.21.

    tensorflow_fine_tuning.py single|mirrored plain|xla all|head FOLDER SIDE BATCH EPOCHS
    tensorflow_fine_tuning.py save PATH SIDE

As Keras' tutorial on transfer learning does it: image_dataset_from_directory, flips and
rotations, MobileNetV2 without its top, which `head` freezes, and one logit. `mirrored` has two
logical CPU devices. Prints how many images a second the median epoch but the first takes, as
JSON. `save` writes the base, without weights of other images, to a `.keras` file instead.
"""

import json
import statistics
import sys
import time

import keras
import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE


class EpochTimes(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.seconds = []
        self._start = 0

    def on_epoch_begin(self, epoch, logs=None):
        self._start = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        self.seconds.append(time.perf_counter() - self._start)


def make_base(side):
    return keras.applications.MobileNetV2((side, side, 3), include_top=False, weights=None)


def make_model(side, part, rate):
    base = make_base(side)
    base.trainable = part == "all"
    image = keras.Input((side, side, 3))
    x = base(keras.layers.Rescaling(1 / 127.5, -1)(image))
    x = keras.layers.Dropout(0.2)(keras.layers.GlobalAveragePooling2D()(x))
    model = keras.Model(image, keras.layers.Dense(1)(x))
    return model, keras.optimizers.Adam(rate)


def make_images(folder, side, batch):
    augment = keras.Sequential([keras.layers.RandomFlip("horizontal"), keras.layers.RandomRotation(0.1)])
    images = keras.utils.image_dataset_from_directory(
        folder, label_mode="binary", image_size=(side, side), batch_size=batch, seed=1, verbose=False)
    count = len(images.file_paths)
    images = images.map(lambda image, label: (augment(image, training=True), label), AUTOTUNE)
    return images.prefetch(AUTOTUNE), count


def main():
    if sys.argv[1] == "save":
        make_base(int(sys.argv[3])).save(sys.argv[2])
        return
    strategy, mode, part, folder = sys.argv[1:5]
    side, batch, epochs = map(int, sys.argv[5:])
    if strategy == "mirrored":
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
        scope = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope()
    else:
        scope = tf.distribute.get_strategy().scope()
    images, count = make_images(folder, side, batch)
    with scope:
        model, optimizer = make_model(side, part, 1e-4)
        model.compile(optimizer, keras.losses.BinaryCrossentropy(from_logits=True),
                      metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)], jit_compile=mode == "xla")
    times = EpochTimes()
    model.fit(images, epochs=epochs, verbose=0, callbacks=[times])
    print(json.dumps(count / statistics.median(times.seconds[1:])))


if __name__ == "__main__":
    main()
