"""Outputs of models from Keras' files: the real Keras beside `coordinator predict`.

    python3 keras_logits.py BINARIES [MODEL]... [--record FILE]

Each model has random weights. Its moving statistics are those of the images, spoiled by random
factors, so that activations neither die nor explode. It is saved, and both sides compute the same
images of Fashion-MNIST, resized to what it reads. For its logits, ‖ours − Keras'‖ / ‖Keras'‖ may be
at most 1e-5. If it is more, Keras computes them again without oneDNN, and by XLA; twice what these
differ from Keras is then the bound. And it computes them in float64, to tell who is nearer to them.
Without names: all models.
"""

import argparse
import gzip
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import keras
import numpy as np
import tensorflow as tf
from keras import applications, layers

DATA = pathlib.Path("/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz")
EXAMPLES = 4
BOUND = 1e-5
CLASSES = 10

# --- The models --------------------------------------------------------------------------------


def application(constructor, size=128):
    def make():
        return constructor(
            weights=None, input_shape=(size, size, 3), classes=CLASSES, classifier_activation=None
        )

    return make


def branches():
    """Operators between layers, and layers that several read."""
    inputs = keras.Input((28, 28, 1))
    x = layers.Conv2D(8, 3, strides=2, padding="same", activation="relu")(inputs)
    short = layers.Conv2D(8, 1, name="short")(x)
    long = layers.SeparableConv2D(8, 3, padding="same", activation="silu")(x)
    long = layers.BatchNormalization()(long)
    x = layers.Add()([short, long]) * 0.5 + x
    x = layers.Concatenate()([x, layers.Multiply()([short, long]), layers.Maximum()([short, x])])
    x = layers.PReLU(shared_axes=[1, 2])(layers.MaxPooling2D()(x))
    return keras.Model(inputs, layers.Dense(CLASSES)(layers.Flatten()(x)))


def normalizations():
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Rescaling(1 / 255),
            layers.Conv2D(16, 3, strides=2, padding="same", activation="gelu"),
            layers.LayerNormalization(),
            layers.DepthwiseConv2D(3, depth_multiplier=2, activation="hard_swish"),
            layers.GroupNormalization(4),
            layers.Conv2DTranspose(8, 3, strides=2, activation="elu"),
            layers.LayerNormalization(axis=[2, 3]),
            layers.Dropout(0.5),
            layers.GlobalAveragePooling2D(),
            layers.Dense(CLASSES),
        ]
    )


def embedding():
    """Pixels as words."""
    return keras.Sequential(
        [
            keras.Input((784,)),
            layers.Embedding(256, 16),
            layers.Conv1D(16, 5, strides=3, activation="relu"),
            layers.LayerNormalization(),
            layers.MaxPooling1D(3),
            layers.Conv1D(32, 3, padding="same", activation="tanh"),
            layers.GlobalMaxPooling1D(),
            layers.Dense(CLASSES),
        ]
    )


SMALL = {"branches": branches, "normalizations": normalizations, "embedding": embedding}
MODELS = SMALL | {
    "MobileNet": application(applications.MobileNet),
    "MobileNetV2": application(applications.MobileNetV2),
    "MobileNetV3Small": application(applications.MobileNetV3Small),
    "MobileNetV3Large": application(applications.MobileNetV3Large),
    "ResNet50": application(applications.ResNet50),
    "ResNet50V2": application(applications.ResNet50V2),
    "VGG16": application(applications.VGG16, 64),
    "DenseNet121": application(applications.DenseNet121),
    "EfficientNetB0": application(applications.EfficientNetB0),
    "EfficientNetV2B0": application(applications.EfficientNetV2B0),
    "Xception": application(applications.Xception),
    "InceptionV3": application(applications.InceptionV3),
    "NASNetMobile": application(applications.NASNetMobile, 224),
}
# Those that rescale what they read.
READS_BYTES = {"normalizations", "embedding"} | {
    name for name in MODELS if name.startswith(("MobileNetV3", "EfficientNet"))
}


def examples(model, name):
    with gzip.open(DATA) as file:
        images = np.frombuffer(file.read(16 + EXAMPLES * 784)[16:], np.uint8)
    shape = model.input_shape[1:]
    if len(shape) == 1:
        return images.reshape(EXAMPLES, 784).astype(np.float32)
    images = images.reshape(EXAMPLES, 28, 28, 1).astype(np.float32)
    images = tf.image.resize(images, shape[:2]).numpy().repeat(shape[2], axis=-1)
    return images if name in READS_BYTES else images / 127.5 - 1


def fan_in(variable):
    shape = variable.shape
    if "depthwise" in variable.path and len(shape) == 4:
        return shape[0] * shape[1]
    return max(1, np.prod(shape[:-1]))


def randomize(model, images):
    rng = np.random.default_rng(7)
    for variable in model.variables:
        shape, path = variable.shape, variable.path
        if "seed_generator" in path:
            continue
        if path.endswith(("gamma", "variance")):
            values = rng.uniform(0.7, 1.3, shape)
        elif path.endswith(("kernel", "embeddings")):
            values = rng.normal(0, np.sqrt(2 / fan_in(variable)), shape)
        elif path.endswith("count"):
            continue
        else:
            values = rng.normal(0, 0.1, shape)
        variable.assign(values)
    for layer in model.layers:
        # What it computes with follows from its variables, as after loading.
        if isinstance(layer, layers.Normalization):
            layer.finalize_state()
    normalizations = [x for x in model.layers if isinstance(x, layers.BatchNormalization)]
    momentums = [layer.momentum for layer in normalizations]
    for layer in normalizations:
        layer.momentum = 0.0
    if normalizations:
        model(images, training=True)
    for layer, momentum in zip(normalizations, momentums):
        layer.momentum = momentum
        deviation = np.sqrt(layer.moving_variance.numpy() + layer.epsilon)
        layer.moving_mean.assign_add(rng.normal(0, 0.1, deviation.shape) * deviation)
        layer.moving_variance.assign(deviation**2 * rng.uniform(0.7, 1.4, deviation.shape))


# --- Both sides --------------------------------------------------------------------------------


def keras_again(folder, name, way):
    """The logits of another process, without oneDNN: `way` is "plain", "xla" or "float64"."""
    environment = os.environ | {"TF_ENABLE_ONEDNN_OPTS": "0"}
    command = [sys.executable, __file__, "--again", folder, name, way]
    subprocess.run(command, check=True, env=environment)
    return np.load(folder / f"{way}.npy")


def compute_again(folder, name, way):
    if way == "float64":
        keras.config.set_floatx(way)
        keras.config.set_dtype_policy(way)
        model = MODELS[name]()
        model.load_weights(folder / "model.keras")
    else:
        model = keras.models.load_model(folder / "model.keras", compile=False)
    images = tf.constant(np.load(folder / "images.npy").astype(keras.config.floatx()))
    compute = tf.function(lambda x: model(x, training=False), jit_compile=way == "xla")
    np.save(folder / f"{way}.npy", compute(images).numpy())


def our_logits(binaries, folder):
    command = [binaries / "coordinator", "predict", folder / "model.keras", "--device", "cpu"]
    command += ["--data", folder / "images.npy", "--output", folder / "ours.npy"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=300)
    return np.load(folder / "ours.npy")


def difference(a, b):
    return np.linalg.norm(np.float64(a) - b) / np.linalg.norm(np.float64(b))


def compare(binaries, folder, name):
    """A row of the table, and whether the model passes."""
    keras.utils.set_random_seed(1)
    model = MODELS[name]()
    images = examples(model, name)
    randomize(model, images)
    model.save(folder / "model.keras")
    np.save(folder / "images.npy", images)
    theirs = model.predict(images, verbose=0)
    ours = our_logits(binaries, folder)
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype, (ours.shape, ours.dtype)
    # How much logits differ between images: with dead activations, not at all.
    variety = np.linalg.norm(theirs - theirs.mean(axis=0)) / np.linalg.norm(theirs)
    assert variety > 1e-3, f"{name}: all images give the same: {theirs}"
    found, bound, why = difference(ours, theirs), BOUND, ""
    if not found <= bound:
        spread = max(difference(keras_again(folder, name, way), theirs) for way in ("plain", "xla"))
        assert spread < 1e-3, f"{name}: Keras differs from itself by {spread}, which is no rounding"
        exact = keras_again(folder, name, "float64")
        bound = max(BOUND, 2 * spread)
        from_exact = [f"{difference(logits, exact):.1e}" for logits in (ours, theirs)]
        why = f": 2 × {spread:.1e}; from float64 ours {from_exact[0]}, Keras' {from_exact[1]}"
    passes = found <= bound
    shape = " × ".join(map(str, model.input_shape[1:]))
    figures = [f"{variety:.2f}", f"{found:.1e}", f"{bound:.1e}{why}"]
    cells = [name, f"{model.count_params():,}", shape, *figures, "passes" if passes else "FAILS"]
    return f"| {' | '.join(cells)} |", passes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("models", nargs="*", choices=[[], *MODELS], default=[])
    parser.add_argument("--record", type=pathlib.Path, help="Also writes the table to this file.")
    arguments = parser.parse_args()
    table = [
        "| Model | Parameters | Input | Variety of logits | ‖ours − Keras'‖ / ‖Keras'‖ | At most | |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(table))
    failures = 0
    for name in arguments.models or MODELS:
        with tempfile.TemporaryDirectory() as folder:
            row, passes = compare(arguments.binaries.resolve(), pathlib.Path(folder), name)
        print(row, flush=True)
        table.append(row)
        failures += not passes
        keras.backend.clear_session()
    versions = f"keras {keras.__version__}, tensorflow {tf.__version__}, {platform.machine()}"
    print(versions)
    if arguments.record:
        arguments.record.write_text(RECORD.format(table="\n".join(table), versions=versions))
    sys.exit(f"{failures} models differ" if failures else 0)


RECORD = """# Logits of Keras' models

`tests/interop/keras_logits.py build/release/bin --record tests/interop/LOGITS.md` wrote this, with
{versions}. What it compares stands at its head.

{table}
"""

if __name__ == "__main__":
    if sys.argv[1] == "--again":
        compute_again(pathlib.Path(sys.argv[2]), *sys.argv[3:])
    else:
        main()
