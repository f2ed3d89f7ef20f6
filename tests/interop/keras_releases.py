"""Releases of Keras 3 beside the real programs: which read a job's `model.keras`, and are read.

    python3 keras_releases.py BINARIES [RELEASE]... [--environments FOLDER] [--record FILE]

Each release comes from PyPI, with a TensorFlow of its time, into a virtual environment of its own
in FOLDER. Small jobs are trained with Adam. Each release loads what they wrote, compiled, and

* must give the outputs of `coordinator predict`,
* must have the optimizer's state,
* goes on by a step, after which its weights must be those of the newest release,
* writes the model again, of which `coordinator predict` must give the release's outputs.

Arrays are compared by ‖a − b‖ / ‖b‖, which may be at most 1e-5. Releases before a case's
`first_release` must refuse its model.
"""

import argparse
import dataclasses
import json
import pathlib
import platform
import subprocess
import sys
import tempfile

# First, since it says on what TensorFlow runs.
from both_sides import difference, fashion_mnist, run_job, values

import keras
import numpy as np

# To its TensorFlow. The last is the newest one.
RELEASES = {
    "3.0.5": "2.16.1",
    "3.3.3": "2.16.1",
    "3.5.0": "2.17.0",
    "3.8.0": "2.18.0",
    "3.10.0": "2.19.0",
    "3.12.0": "2.20.0",
    "3.14.0": "2.20.0",
    "3.15.1": "2.21.0",
}
NEWEST = list(RELEASES)[-1]
EXAMPLES = 64
BATCH = 16
EPOCHS = 2
BOUND = 1e-5

# --- The models --------------------------------------------------------------------------------


@dataclasses.dataclass
class Case:
    """A model to train."""

    layers: list
    # Makes the features of each input from images.
    features: object
    # Two outputs learn the class and the brightness; else there is one, of the class.
    outputs: list = dataclasses.field(default_factory=list)
    first_release: str = "3.0"


CNN = [
    {"Input": {"shape": [14, 14, 1]}},
    {"ZeroPadding2D": {}},
    {"Conv2D": {"filters": 8, "kernel_size": 3, "use_bias": False}},
    {"BatchNormalization": {"momentum": 0.9}},
    {"ReLU": {"max_value": 6.0}},
    {"DepthwiseConv2D": {"kernel_size": 3, "depthwise_initializer": "he_normal"}},
    {"MaxPooling2D": {}},
    {"Flatten": {}},
    {"Dense": {"units": 10, "kernel_regularizer": "l2"}},
]
RECURRENT = [
    {"Input": {"shape": [28]}},
    {"Embedding": {"input_dim": 16, "output_dim": 8}},
    {"ZeroPadding1D": {}},
    {"Bidirectional": {"layer": {"GRU": {"units": 6, "return_sequences": True}}}},
    {"LSTM": {"units": 8}},
    {"Dense": {"units": 10}},
]
ATTENTION = [
    {"Input": {"shape": [28, 28], "name": "rows"}},
    {"MultiHeadAttention": {"num_heads": 2, "key_dim": 4, "name": "attend"}, "inputs": ["rows", "rows"]},
    {"Add": {"name": "sum"}, "inputs": ["rows", "attend"]},
    {"LayerNormalization": {}},
    {"GlobalAveragePooling1D": {}},
    {"Dense": {"units": 10}},
]
TWO_OUTPUTS = [
    {"Input": {"shape": [28, 28], "name": "rows"}},
    {"Input": {"shape": [28, 28], "name": "columns"}},
    {"MultiHeadAttention": {"num_heads": 2, "key_dim": 4}, "inputs": ["rows", "columns"]},
    {"LayerNormalization": {}},
    {"GlobalAveragePooling1D": {"name": "pool"}},
    {"Dense": {"units": 10, "name": "class"}},
    {"Dense": {"units": 1, "name": "level"}, "inputs": ["pool"]},
]
CASES = {
    "CNN": Case(CNN, lambda images: [images[:, ::2, ::2]]),
    "Embedding, GRU, LSTM": Case(RECURRENT, lambda images: [np.floor(images[:, 14, :, 0] * 15)]),
    # A Functional with one input or output: Keras writes these in two ways. Until 3.10 both mean one
    # tensor, but before 3.4 only a list is read, and from 3.11 on a list makes `model.output` a list.
    "attention": Case(ATTENTION, lambda images: [images[..., 0]], first_release="3.4"),
    "attention, two inputs and outputs": Case(
        TWO_OUTPUTS,
        lambda images: [images[..., 0], images[..., 0].swapaxes(1, 2)],
        # In the order of their names, in which 3.5 takes losses by name.
        outputs=["class", "level"],
    ),
}


def number(release):
    return tuple(map(int, release.split(".")))


def is_readable(name, release):
    return number(release) >= number(CASES[name].first_release)


def numbered(prefix, arrays):
    return {f"{prefix}{i}": array for i, array in enumerate(arrays)}


def arrays_of(archive, prefix):
    """Those of `numbered`."""
    return [archive[key] for key in sorted(archive) if key.startswith(prefix)]


def names_of(prefix, keys):
    """The names of a job's arrays: a map, if there are several."""
    if len(keys) == 1:
        return f"{prefix}0"
    return {key: f"{prefix}{i}" for i, key in enumerate(keys)}


def source_of(case):
    """The job's source of data."""
    inputs = [each["Input"].get("name", "") for each in case.layers if "Input" in each]
    features, labels = names_of("x", inputs), names_of("y", case.outputs or [""])
    return {"npz": {"file": "data.npz", "features": features, "labels": labels}}


def train(binaries, folder, case):
    """Leaves the data and the job's model in the folder."""
    folder.mkdir()
    images, labels = fashion_mnist(EXAMPLES)
    x = [np.float32(each) for each in case.features(images)]
    y = [labels, images.mean(axis=(1, 2))][: len(case.outputs) or 1]
    np.savez(folder / "data.npz", **numbered("x", x), **numbered("y", y))
    of_class = {"SparseCategoricalCrossentropy": {"from_logits": True}}
    job = {
        "strategy": "mirrored",
        "model": {"layers": case.layers, "outputs": case.outputs},
        "loss": dict(zip(case.outputs, [of_class, "mse"])) or of_class,
        "optimizer": {"Adam": {"learning_rate": 0.01}},
        "metrics": {case.outputs[0]: ["accuracy"]} if case.outputs else ["accuracy"],
        "data": {"train": source_of(case)},
        "global_batch_size": BATCH,
        "epochs": EPOCHS,
    }
    (run_job(binaries, folder, "job", job) / "model.keras").rename(folder / "model.keras")


def predict(binaries, folder, case, name):
    """What we make of a model: an array for each output."""
    source = source_of(case)
    source["npz"]["file"] = str(folder / "data.npz")
    del source["npz"]["labels"]
    command = [binaries / "coordinator", "predict", folder / f"{name}.keras", "--device", "cpu"]
    command += ["--data", json.dumps(source), "--output", folder / f"{name}.npy"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=300)
    names = [f"{name}-{output}.npy" for output in case.outputs] or [f"{name}.npy"]
    return [np.load(folder / each) for each in names]


# --- In a release ------------------------------------------------------------------------------


def outputs_of(model, x):
    outputs = model.predict(x, verbose=0)
    return outputs if isinstance(outputs, list) else [outputs]


def go_on(folder):
    """Loads the model, and leaves what it gives, is after a step, and gives then."""
    try:
        model = keras.models.load_model(folder / "model.keras")
    except Exception as error:  # Releases differ in what they raise.
        (folder / "refused.txt").write_text(f"{type(error).__name__}: {error}")
        return
    data = dict(np.load(folder / "data.npz"))
    x, y = arrays_of(data, "x"), arrays_of(data, "y")
    iterations = int(model.optimizer.iterations.numpy())
    assert iterations == EPOCHS * EXAMPLES // BATCH, iterations
    slots = values(model.optimizer.variables)[2:]
    assert len(slots) == 2 * len(model.trainable_variables), len(slots)
    assert all(slot.any() for slot in slots), "a slot has only zeros"
    if len(x) == 1:
        x, y = x[0], y[0]
    result = numbered("loaded", outputs_of(model, x))
    model.fit(x, y, batch_size=EXAMPLES, verbose=0)
    result |= numbered("again", outputs_of(model, x))
    weights = np.concatenate([value.ravel() for value in values(model.weights)])
    np.savez(folder / "result.npz", weights=weights, **result)
    model.save(folder / "again.keras")


# --- Around the releases -----------------------------------------------------------------------


def python_of(environments, release):
    """The interpreter that has the release; installs it at first."""
    environment = environments / release
    packages = [f"keras=={release}", f"tensorflow-cpu=={RELEASES[release]}"]
    installed = environment / "installed.txt"
    if not installed.exists():
        print(f"installing {' '.join(packages)}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        pip = [environment / "bin/pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *packages], check=True)
        installed.write_text("\n".join(packages))
    return environment / "bin/python"


def result_of(binaries, python, folder, case):
    """What the release made of the model; None if it refused it."""
    for stale in ("refused.txt", "result.npz"):
        (folder / stale).unlink(missing_ok=True)
    command = [python, __file__, "--in-release", folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{python}: {done.stderr[-2000:]}"
    if (folder / "refused.txt").exists():
        print((folder / "refused.txt").read_text()[-500:], file=sys.stderr)
        return None
    read_back = predict(binaries, folder, case, "again")
    return dict(np.load(folder / "result.npz")) | numbered("read_back", read_back)


def row_of(release, name, result, ours, newest):
    """A row of the table, and whether the release does what it must."""
    if result is None:
        passes = not is_readable(name, release)
        verdict = f"refused, as before {CASES[name].first_release}" if passes else "FAILS: refused"
        cells = ["", "", ""]
    else:
        differences = [
            difference(ours, arrays_of(result, "loaded")),
            difference([result["weights"]], [newest["weights"]]),
            difference(arrays_of(result, "read_back"), arrays_of(result, "again")),
        ]
        passes = is_readable(name, release) and all(each <= BOUND for each in differences)
        verdict = "passes" if passes else "FAILS"
        cells = [f"{each:.1e}" for each in differences]
    return f"| {' | '.join([release, RELEASES[release], name, *cells, verdict])} |", passes


HEAD = """| Keras | TensorFlow | Model | Outputs | Weights after a step | Outputs, read back | |
|---|---|---|---|---|---|---|"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("releases", nargs="*", choices=[[], *RELEASES], default=[])
    parser.add_argument("--environments", type=pathlib.Path, default="build/keras_releases")
    parser.add_argument("--record", type=pathlib.Path, help="Also writes the table to this file.")
    arguments = parser.parse_args()
    releases = [each for each in arguments.releases or RELEASES if each != NEWEST]
    binaries, environments = arguments.binaries.resolve(), arguments.environments.resolve()
    pythons = {each: python_of(environments, each) for each in [NEWEST, *releases]}
    rows, failures = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for i, (name, case) in enumerate(CASES.items()):
            place = pathlib.Path(folder) / str(i)
            train(binaries, place, case)
            ours = predict(binaries, place, case, "model")
            newest = result_of(binaries, pythons[NEWEST], place, case)
            for release in [*releases, NEWEST]:
                is_newest = release == NEWEST
                result = newest if is_newest else result_of(binaries, pythons[release], place, case)
                row, passes = row_of(release, name, result, ours, newest)
                print(row, flush=True)
                rows[release, name] = row
                failures += not passes
    table = "\n".join([HEAD, *(rows[each] for each in sorted(rows, key=lambda key: number(key[0])))])
    if arguments.record:
        arguments.record.write_text(RECORD.format(table=table, machine=platform.machine()))
    sys.exit(f"{failures} models are not read, or not as they are" if failures else 0)


RECORD = """# Releases of Keras 3

`tests/interop/keras_releases.py build/release/bin --record tests/interop/RELEASES.md` wrote this, on
{machine}. What it compares stands at its head.

{table}
"""

if __name__ == "__main__":
    if sys.argv[1] == "--in-release":
        go_on(pathlib.Path(sys.argv[2]))
    else:
        main()
