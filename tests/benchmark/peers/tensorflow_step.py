"""The tutorial CNN on Fashion-MNIST under TensorFlow 2.21.

    tensorflow_step.py single|mirrored|multi_worker_mirrored|parameter_server EPOCHS

multi_worker_mirrored and parameter_server read TF_CONFIG and need tf-keras.
STEPS_PER_CALL (default 50) is how many steps one call of the coordinator runs
under parameter_server.
"""

import time

START = time.time()

import json  # noqa: E402: the time of the imports counts
import os
import sys

import fashion_mnist

STRATEGY, EPOCHS = sys.argv[1], int(sys.argv[2])
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
#Keras 3 knows neither strategy.
os.environ["TF_USE_LEGACY_KERAS"] = str(
    int(STRATEGY in ("multi_worker_mirrored", "parameter_server")))

import tensorflow as tf  # noqa: E402

BATCH_SIZE = fashion_mnist.BATCH_SIZE
REPORT = fashion_mnist.Report(START)
keras = tf.keras


def make_model():
    return keras.Sequential([
        keras.layers.Conv2D(32, 3, activation="relu", input_shape=(28, 28, 1)),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(10),
    ])


def make_dataset(images, labels):
    return tf.data.Dataset.from_tensor_slices((images[..., None], labels)).map(
        lambda image, label: (tf.cast(image, tf.float32) / 255.0, label))


class ReportCallback(keras.callbacks.Callback):

    def __init__(self, batch_size):
        super().__init__()
        self._batch_size = batch_size
        self._steps = 0
        self._steps_before = 0

    def on_train_batch_end(self, batch, logs=None):
        self._steps += 1
        if self._steps == 1:
            REPORT.first_step()

    def on_epoch_begin(self, epoch, logs=None):
        self._steps_before = self._steps
        REPORT.epoch_begins()

    def on_epoch_end(self, epoch, logs=None):
        REPORT.epoch_ends(self._steps - self._steps_before, self._batch_size)


def run_fit(strategy, batch_size):
    """Keras' own training loop."""
    with strategy.scope():
        model = make_model()
        model.compile(loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                      optimizer=keras.optimizers.Adam(fashion_mnist.LEARNING_RATE),
                      metrics=["accuracy"])
    training = make_dataset(*fashion_mnist.train()).cache().shuffle(10000).batch(
        batch_size).prefetch(tf.data.AUTOTUNE)
    model.fit(training, epochs=EPOCHS, callbacks=[ReportCallback(batch_size)], verbose=0)
    test = make_dataset(*fashion_mnist.test()).batch(batch_size)
    REPORT.evaluation(model.evaluate(test, verbose=0)[1])


def run_parameter_server():
    """A custom loop: fit() is slower under this strategy."""
    task = json.loads(os.environ["TF_CONFIG"])["task"]
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if task["type"] in ("ps", "worker"):
        tf.distribute.Server(resolver.cluster_spec(), job_name=task["type"],
                             task_index=task["index"], protocol="grpc", start=True).join()
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        model = make_model()
        optimizer = keras.optimizers.Adam(fashion_mnist.LEARNING_RATE)
        loss_function = keras.losses.SparseCategoricalCrossentropy(
            from_logits=True, reduction="none")
    images, labels = fashion_mnist.train()

    def worker_dataset(_=None):
        return make_dataset(images, labels).cache().shuffle(10000).repeat().batch(
            BATCH_SIZE).prefetch(4)

    @tf.function
    def distributed_dataset():
        return strategy.distribute_datasets_from_function(worker_dataset)

    steps_per_call = int(os.environ.get("STEPS_PER_CALL", "50"))

    def replica_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(loss_function(y, model(x, training=True))) / BATCH_SIZE
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    @tf.function
    def call(iterator):
        for _ in tf.range(steps_per_call):
            strategy.run(replica_step, args=next(iterator))

    iterator = iter(coordinator.create_per_worker_dataset(distributed_dataset))
    coordinator.schedule(call, args=(iterator,))
    coordinator.join()
    REPORT.first_step()
    calls = len(images) // BATCH_SIZE // steps_per_call
    for _ in range(EPOCHS):
        REPORT.epoch_begins()
        for _ in range(calls):
            coordinator.schedule(call, args=(iterator,))
        coordinator.join()
        REPORT.epoch_ends(calls * steps_per_call, BATCH_SIZE)


def main():
    if STRATEGY == "single":
        run_fit(tf.distribute.get_strategy(), BATCH_SIZE)
    elif STRATEGY == "mirrored":
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(
            cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
        run_fit(tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]), 2 * BATCH_SIZE)
    elif STRATEGY == "multi_worker_mirrored":
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        run_fit(strategy, strategy.num_replicas_in_sync * BATCH_SIZE)
    elif STRATEGY == "parameter_server":
        run_parameter_server()
    else:
        sys.exit(f"unknown strategy {STRATEGY}")


main()
