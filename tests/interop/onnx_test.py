"""What `coordinator export --format onnx` writes, in onnxruntime: beside Keras and `coordinator predict`.

    python3 onnx_test.py BUILD [MODEL]...

First, the models of keras_expected.json, with the values that their outputs have in Keras there.
Then models from Keras' files that a job goes on with for a few steps. Its checkpoint becomes a file of
ONNX, whose outputs are compared with those of `coordinator predict` and with those of Keras, which
loads the file that the job writes for it. ‖ours − Keras'‖ / ‖Keras'‖ may be at most 2e-5.
With names: these models from Keras' files, which may be any of keras_logits.py and keras_files_test.py.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

# First, since it says on what TensorFlow runs.
from both_sides import run_job

import keras
import numpy as np
import onnxruntime

import keras_files_test
import keras_logits
from keras_models import features as expected_features

BOUND = 2e-5
# Those that are compared without a name.
MODELS = ["tutorial", "embedding", "normalizations", "attention", "given", "recurrent", "several", "mobile"]


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def difference(ours, theirs):
    ours, theirs = np.float64(ours), np.float64(theirs)
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    return np.linalg.norm(ours - theirs) / np.linalg.norm(theirs)


# --- The models of keras_expected.json -----------------------------------------------------------


def compare_expected(build):
    """The number of models that differ."""
    root = pathlib.Path(__file__).parent
    expected = json.loads((root / "keras_expected.json").read_text())["models"]
    failures, worst = 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        command = [build / "tests" / "onnx_models", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        refused = done.stdout.splitlines()
        for case in expected:
            path = pathlib.Path(folder) / f"{case['name']}.onnx"
            if not path.exists():
                continue
            session = session_of(path)
            shape = case["layers"][0]["Input"]["shape"]
            x = expected_features((case["batch"], *shape), case["layers"][1:])
            ours = session.run(None, {session.get_inputs()[0].name: x})[0].ravel()
            theirs = np.array(case["output"])
            # As in keras_test.cc: relative to the largest element.
            found = np.abs(ours - theirs).max() / max(2e-3, np.abs(theirs).max())
            worst = max(worst, found)
            if not found <= BOUND:
                failures += 1
                print(f"{case['name']}: {found:.1e} FAILS")
    summary = f"{len(expected)} models of keras_expected.json: at most {worst:.1e}, {len(refused)} refused"
    print(summary, *refused, sep="\n  ", flush=True)
    return failures + len(refused)


# --- Models of a job -----------------------------------------------------------------------------


def mobile():
    """The start of a MobileNetV2, with a block that adds its input."""
    layers = keras.layers
    inputs = keras.Input((28, 28, 1))
    x = layers.ZeroPadding2D(((0, 1), (0, 1)))(inputs)
    x = layers.Conv2D(8, 3, strides=2, use_bias=False)(x)
    x = layers.ReLU(6.0)(layers.BatchNormalization(momentum=0.9)(x))
    y = layers.Conv2D(24, 1, use_bias=False)(x)
    y = layers.ReLU(6.0)(layers.BatchNormalization(momentum=0.9)(y))
    y = layers.DepthwiseConv2D(3, padding="same", use_bias=False)(y)
    y = layers.ReLU(6.0)(layers.BatchNormalization(momentum=0.9)(y))
    y = layers.BatchNormalization(momentum=0.9)(layers.Conv2D(8, 1, use_bias=False)(y))
    x = layers.GlobalAveragePooling2D()(layers.Add()([x, y]))
    return keras.Model(inputs, layers.Dense(10)(x))


def examples_of(model, name):
    """By the names of the inputs; "x" of a single one."""
    if len(model.inputs) == 1:
        # Several times, for a few steps.
        return {"x": np.concatenate([keras_logits.examples(model, name)] * 4)}
    rng = np.random.default_rng(3)
    numbers = {each.name: rng.normal(size=(16, *each.shape[1:])) for each in model.inputs}
    # Masks may have no other values; ours are numbers in ONNX.
    return {
        each.name: (numbers[each.name] > 0 if each.dtype == "bool" else numbers[each.name]).astype(np.float32)
        for each in model.inputs
    }


def make_model(name):
    makers = {"mobile": mobile} | keras_logits.MODELS
    maker = makers.get(name) or getattr(keras_files_test, name)
    keras.utils.set_random_seed(1)
    model = maker()
    model.compile(keras.optimizers.SGD(1e-3), "mse")
    return model


def train(binaries, folder, model, features):
    """The folder of a job that goes on with the model."""
    names = getattr(model, "output_names", ["y"])
    labels = {
        name: np.zeros((16, *output.shape[1:]), np.float32)
        for name, output in zip(names, model.outputs)
    }
    np.savez(folder / "data.npz", **{f"x_{k}": v for k, v in features.items()}, **labels)
    sides = [{name: f"x_{name}" for name in features}, {name: name for name in labels}]
    names = [side if len(side) > 1 else next(iter(side.values())) for side in sides]
    train = {"npz": {"file": "data.npz", "features": names[0], "labels": names[1]}}
    job = {
        "strategy": "mirrored",
        "model": str(folder / "model.keras"),
        "data": {"train": train},
        "batch_size_per_replica": 4,
    }
    return run_job(binaries, folder, "job", job)


def predict(binaries, folder, job, features, output_names):
    """Of `coordinator predict`, by output."""
    np.savez(folder / "features.npz", **features)
    names = {name: name for name in features} if len(features) > 1 else "x"
    data = json.dumps({"npz": {"file": str(folder / "features.npz"), "features": names}})
    command = [binaries / "coordinator", "predict", job / "checkpoint", "--device", "cpu"]
    command += ["--data", data, "--output", folder / "ours.npy"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=300)
    if len(output_names) == 1:
        return [np.load(folder / "ours.npy")]
    return [np.load(folder / f"ours-{name}.npy") for name in output_names]


def compare(build, folder, name):
    """A row of the table, and whether the model passes."""
    binaries = build / "bin"
    model = make_model(name)
    features = examples_of(model, name)
    keras_logits.randomize(model, features.get("x", list(features.values())))
    model.save(folder / "model.keras")
    job = train(binaries, folder, model, features)
    path = folder / "model.onnx"
    command = [binaries / "coordinator", "export", job / "checkpoint", "--format", "onnx"]
    command += ["--output", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        return f"| {name} | {done.stderr.strip()} |", False
    session = session_of(path)
    # Another size of the batch than that of training.
    read = {key: value[:7] for key, value in features.items()}
    inputs = {each.name: read.get(each.name, read.get("x")) for each in session.get_inputs()}
    outputs = session.run(None, inputs)
    trained = keras.models.load_model(job / "model.keras")
    theirs = trained.predict(list(read.values()) if len(read) > 1 else read["x"], verbose=0)
    theirs = theirs if isinstance(theirs, list) else [theirs]
    output_names = [each.name for each in session.get_outputs()]
    ours = predict(binaries, folder, job, read, output_names)
    found = [max(map(difference, outputs, other)) for other in (ours, theirs)]
    passes = max(found) <= BOUND
    cells = [name, path.stat().st_size, *[f"{each:.1e}" for each in found], "passes" if passes else "FAILS"]
    return f"| {' | '.join(map(str, cells))} |", passes


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    failures = compare_expected(build) if len(sys.argv) == 2 else 0
    print("| Model | Bytes | From predict | From Keras | |", "|---|---|---|---|---|", sep="\n")
    for name in sys.argv[2:] or MODELS:
        with tempfile.TemporaryDirectory() as folder:
            row, passes = compare(build, pathlib.Path(folder), name)
        print(row, flush=True)
        failures += not passes
        keras.backend.clear_session()
    sys.exit(f"{failures} models differ" if failures else 0)


if __name__ == "__main__":
    main()
