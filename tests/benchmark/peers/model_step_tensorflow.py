"""Training steps of a model of compare_models.py under TensorFlow 2.21.

    model_step_tensorflow.py MODEL SIZE BATCH THREADS graph|xla
    model_step_tensorflow.py MODEL SIZE save PATH

MODEL is one of MODELS below. Float32, images as (height, width, channels), without
metrics. See step_server. `save` writes the compiled model to a `.keras` file instead.
"""

import sys

import tensorflow as tf

import step_server

NAME, SIZE = sys.argv[1], int(sys.argv[2])
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


def application(make):
    """A model of keras.applications that gives logits."""
    return lambda: make(input_shape=(SIZE, SIZE, 3), weights=None, classifier_activation=None)


def lstm():
    image = keras.Input((SIZE, SIZE))
    return keras.Model(image, layers.Dense(10)(layers.LSTM(128)(image)))


def attention():
    """A block of a transformer's encoder, of 4 heads, over SIZE steps of 128 values."""
    steps = keras.Input((SIZE, 128))
    x = layers.add([steps, layers.MultiHeadAttention(4, 32)(steps, steps)])
    x = layers.LayerNormalization()(x)
    x = layers.add([x, layers.Dense(128)(layers.Dense(512, activation="relu")(x))])
    x = layers.LayerNormalization()(x)
    return keras.Model(steps, layers.Dense(10)(layers.GlobalAveragePooling1D()(x)))


MODELS = {
    "resnet18": (resnet18, lambda: keras.optimizers.SGD(0.1, momentum=0.9)),
    "resnet50": (application(keras.applications.ResNet50),
                 lambda: keras.optimizers.SGD(0.1, momentum=0.9)),
    "mobilenet_v2": (application(keras.applications.MobileNetV2),
                     lambda: keras.optimizers.Adam(0.001)),
    "efficientnet_b0": (application(keras.applications.EfficientNetB0),
                        lambda: keras.optimizers.Adam(0.001)),
    "lstm": (lstm, lambda: keras.optimizers.Adam(0.001)),
    "attention": (attention, lambda: keras.optimizers.Adam(0.001)),
}


def serve(model, optimizer, loss_function, batch, mode):
    optimizer.build(model.trainable_variables)
    examples = tf.random.uniform((batch, *model.input_shape[1:]))
    labels = tf.random.uniform((batch,), maxval=model.output_shape[-1], dtype=tf.int32)

    @tf.function(jit_compile=mode == "xla")
    def train_step(examples, labels):
        with tf.GradientTape() as tape:
            loss = loss_function(labels, model(examples, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        return loss

    step_server.serve(lambda: train_step(examples, labels), lambda loss: loss.numpy())


def use_threads(count):
    """Before TensorFlow makes its first tensor."""
    tf.config.threading.set_intra_op_parallelism_threads(count)
    tf.config.threading.set_inter_op_parallelism_threads(count)


def main():
    if sys.argv[3] != "save":
        use_threads(int(sys.argv[4]))
    make_model, make_optimizer = MODELS[NAME]
    model, optimizer = make_model(), make_optimizer()
    loss_function = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    if sys.argv[3] == "save":
        model.compile(optimizer, loss_function)
        model.save(sys.argv[4])
    else:
        serve(model, optimizer, loss_function, batch=int(sys.argv[3]), mode=sys.argv[5])


main()
