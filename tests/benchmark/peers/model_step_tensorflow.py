"""Training steps of a model of compare_models.py under TensorFlow 2.21.

    model_step_tensorflow.py resnet18|mobilenet_v2|lstm SIZE BATCH THREADS graph|xla

Float32, images as (height, width, channels), without metrics. See step_server.
"""

import sys

import tensorflow as tf

import step_server

NAME, MODE = sys.argv[1], sys.argv[5]
SIZE, BATCH, THREADS = map(int, sys.argv[2:5])
keras = tf.keras
layers = keras.layers


def convolution(x, filters, size, strides=1):
    """Pads the same on both sides, as the job does."""
    if size > 1 and strides > 1:
        x = layers.ZeroPadding2D(size // 2)(x)
    x = layers.Conv2D(filters, size, strides, padding="valid" if strides > 1 else "same",
                      use_bias=False, kernel_initializer="he_normal")(x)
    return layers.BatchNormalization(momentum=0.9, epsilon=1e-5)(x)


def block(x, filters, strides):
    shortcut = x if strides == 1 else convolution(x, filters, 1, strides)
    x = layers.ReLU()(convolution(x, filters, 3, strides))
    return layers.ReLU()(layers.add([convolution(x, filters, 3), shortcut]))


def resnet18():
    image = keras.Input((SIZE, SIZE, 3))
    x = layers.ReLU()(convolution(image, 64, 7, 2))
    x = layers.MaxPooling2D(3, 2)(layers.ZeroPadding2D(1)(x))
    for filters in (64, 128, 256, 512):
        x = block(x, filters, 1 if filters == 64 else 2)
        x = block(x, filters, 1)
    return keras.Model(image, layers.Dense(1000)(layers.GlobalAveragePooling2D()(x)))


def mobilenet_v2():
    return keras.applications.MobileNetV2((SIZE, SIZE, 3), weights=None,
                                          classifier_activation=None)


def lstm():
    image = keras.Input((SIZE, SIZE))
    return keras.Model(image, layers.Dense(10)(layers.LSTM(128)(image)))


MODELS = {
    "resnet18": (resnet18, lambda: keras.optimizers.SGD(0.1, momentum=0.9)),
    "mobilenet_v2": (mobilenet_v2, lambda: keras.optimizers.Adam(0.001)),
    "lstm": (lstm, lambda: keras.optimizers.Adam(0.001)),
}


def main():
    tf.config.threading.set_intra_op_parallelism_threads(THREADS)
    tf.config.threading.set_inter_op_parallelism_threads(THREADS)
    make_model, make_optimizer = MODELS[NAME]
    model, optimizer = make_model(), make_optimizer()
    optimizer.build(model.trainable_variables)
    loss_function = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    images = tf.random.uniform((BATCH, *model.input_shape[1:]))
    labels = tf.random.uniform((BATCH,), maxval=model.output_shape[-1], dtype=tf.int32)

    @tf.function(jit_compile=MODE == "xla")
    def train_step(images, labels):
        with tf.GradientTape() as tape:
            loss = loss_function(labels, model(images, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        return loss

    step_server.serve(lambda: train_step(images, labels), lambda loss: loss.numpy())


main()
