"""Training from the same weights over the same batches: the real Keras beside the real programs.

    python3 keras_trajectories.py BINARIES [CASE]... [--record FILE]

Each case is a small model and what is tried out with it: an optimizer, a schedule, a loss, a
regularizer, a constraint or metrics. Keras makes and compiles it, and saves it. Then Keras trains it for 100 steps,
and so do two jobs with its file: one `mirrored`, and one of a parameter server with `consistency: sync`.
The worse of the two counts. At most so much may they differ from Keras:

* the loss of each step, and each metric after each epoch, in training and validation: by 1e-4 of it;
* the weights in what the job writes: ‖ours − Keras'‖ / ‖Keras'‖ by 1e-3.

If it is more, and always with --record, Keras, which usually has both, trains again without XLA and
oneDNN. Twice what this differs from the first is then the bound. If that does not do, it trains again
eagerly, since TensorFlow rewrites the arithmetic of graphs. Without names: all cases. A class without a
case is an error.
"""

import argparse
import dataclasses
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

# First, since it says on what TensorFlow runs.
from both_sides import Recorder, columns, difference, fashion_mnist, run_job, values

import keras
import numpy as np
import tensorflow as tf

from keras_trajectory_cases import CASES, make_labels

BATCH = 16
STEPS = 25
EPOCHS = 4
VALIDATION = 100
BOUNDS = {"losses": 1e-4, "weights": 1e-3}
METRIC_BOUND = 1e-4
# What misses its bound, and why. It may do so by no more than KNOWN_BOUND.
KNOWN_MISSES = {
    ("metrics of a mask", "BinaryAccuracy"): "one pixel of 19,600 is at the threshold",
    ("metrics of a mask", "FalsePositives"): "one pixel of 78,400 is at the threshold",
}
KNOWN_BOUND = 1e-3
STRATEGIES = {
    "mirrored": {"strategy": "mirrored"},
    "parameter_server": {"strategy": "parameter_server", "consistency": "sync"},
}


@dataclasses.dataclass
class Way:
    """One that Keras has to compute a step."""

    xla: bool = False
    onednn: bool = False
    eager: bool = False


# What fit() chooses, and others.
USUAL = "usual"
WAYS = {USUAL: Way(xla=True, onednn=True), "graph": Way(), "eager": Way(onednn=True, eager=True)}


def make_model(case):
    keras.backend.clear_session()
    keras.utils.set_random_seed(1)
    model = case.network()
    model.compile(
        case.optimizer(), case.loss(), metrics=case.metrics(), weighted_metrics=case.weighted_metrics()
    )
    return model


def make_data(case):
    """The arrays of an archive: examples for training, and what follows them for validation."""
    count = BATCH * STEPS
    images, ids = fashion_mnist(count + VALIDATION)
    x, y = case.features(images), make_labels(case.labels, images, ids)
    # From 0 to 2.
    w = np.arange(len(x), dtype=np.float32) % 9 / 4
    if case.labels in ("pixels", "void"):
        # Keras broadcasts only axes that are there.
        w = w.reshape(-1, 1, 1)
    arrays = {"x": x, "y": y, "w": w}
    after = {f"{name}_val": array[count:] for name, array in arrays.items()}
    return {name: array[:count] for name, array in arrays.items()} | after


# --- Both sides --------------------------------------------------------------------------------

# A result is a map to arrays: "losses" of steps, "weights", and for each metric its values after each
# epoch, in training and in validation.


def train_keras(case, model):
    data, recorder = make_data(case), Recorder()
    weights = (data["w"], data["w_val"]) if case.sample_weight else (None, None)
    validation = (data["x_val"], data["y_val"], weights[1]) if case.kind == "metrics" else None
    history = model.fit(
        data["x"], data["y"], BATCH, EPOCHS, verbose=0, callbacks=[recorder],
        sample_weight=weights[0], class_weight=case.class_weight, validation_data=validation, shuffle=False,
    ).history  # fmt: skip
    return make_result(recorder.losses, model, history)


def make_result(losses, model, history):
    """`history` has the values of each epoch by their names in Keras' logs."""
    names = [name.removeprefix("val_") for name in history if name.startswith("val_")]
    metrics = {name: np.concatenate([history[name], history[f"val_{name}"]]) for name in names}
    weights = np.concatenate([array.ravel() for array in values(model.weights)])
    return metrics | {"losses": np.array(losses), "weights": weights}


def train_cases(folder, way, names):
    """Keeps what a way of Keras gives of cases in their folders, unless it is there."""
    for name in names:
        case, place = CASES[name], folder / slug(name)
        if (place / f"{way}.npz").exists():
            continue
        print(f"{way}: {name}", file=sys.stderr, flush=True)
        place.mkdir(parents=True, exist_ok=True)
        model = make_model(case)
        if way == USUAL:
            model.save(place / "start.keras")
            np.savez(place / "data.npz", **make_data(case))
        model.load_weights(place / "start.keras")
        model.jit_compile, model.run_eagerly = WAYS[way].xla, WAYS[way].eager
        start = values(model.weights)
        result = train_keras(case, model)
        np.savez(place / f"{way}.npz", **result, moved=difference(values(model.weights), start))


def read_result(place, way):
    """What a way of Keras gave, and how much it moved the weights."""
    result = dict(np.load(place / f"{way}.npz"))
    return result, result.pop("moved")


def train_in_process(folder, way, names):
    """The same in a process whose environment says whether with oneDNN."""
    onednn = {"TF_ENABLE_ONEDNN_OPTS": str(int(WAYS[way].onednn))}
    command = [sys.executable, __file__, "--train", folder, way, *names]
    subprocess.run(command, check=True, env=os.environ | onednn)


def train_job(binaries, folder, case, strategy):
    data = {"train": {"npz": {"file": "data.npz"}}}
    if case.kind == "metrics":
        data["validation"] = {"npz": {"file": "data.npz", "features": "x_val", "labels": "y_val"}}
    if case.sample_weight:
        data["train"]["npz"]["sample_weight"] = "w"
        data["validation"]["npz"]["sample_weight"] = "w_val"
    job = {
        "model": "start.keras",
        "data": data,
        "batch_size_per_replica": BATCH,
        "epochs": EPOCHS,
        "class_weight": case.class_weight or {},
        **STRATEGIES[strategy],
        **case.job,
    }
    output = run_job(binaries, folder, strategy, job)
    model = keras.models.load_model(output / "model.keras")
    return make_result(columns(output / "steps.csv")["loss"], model, columns(output / "history.csv"))


# --- The comparison ----------------------------------------------------------------------------


def slug(name):
    """A case's name as that of a folder."""
    return name.replace(",", "").replace(" ", "_")


def relative(ours, theirs):
    """The largest relative difference of numbers."""
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    differ = ours != theirs
    with np.errstate(divide="ignore"):
        return np.max(np.abs(ours - theirs)[differ] / np.abs(theirs)[differ], initial=0.0)


def compare(ours, theirs):
    """By how much each entry of a result differs from Keras'."""
    assert ours.keys() == theirs.keys(), (ours.keys(), theirs.keys())
    norms = {"weights": difference}
    return {name: norms.get(name, relative)(ours[name], theirs[name]) for name in theirs}


def worst(comparisons):
    return {name: np.max([each[name] for each in comparisons]) for name in comparisons[0]}


def bound_of(name, spread):
    return max(BOUNDS.get(name, METRIC_BOUND), 2 * spread.get(name, 0.0))


class Comparison:
    """A case: how much Keras moved the weights, and by how much we and other ways of Keras differ from it."""

    def __init__(self, binaries, folder, name):
        self.name, self.case, self.folder = name, CASES[name], folder / slug(name)
        self.theirs, self.moved = read_result(self.folder, USUAL)
        ours = [train_job(binaries, self.folder, self.case, strategy) for strategy in STRATEGIES]
        self.errors = worst([compare(each, self.theirs) for each in ours])
        self.spread = {}

    def read_spread(self, way):
        found = compare(read_result(self.folder, way)[0], self.theirs)
        self.spread = worst([found, self.spread or found])

    def misses(self):
        """The entries beyond their bounds."""
        return [each for each in self.errors if not self.errors[each] <= bound_of(each, self.spread)]

    def fails(self):
        """Whether it misses a bound, and not as is known."""
        unknown = [each for each in self.misses() if (self.name, each) not in KNOWN_MISSES]
        return bool(unknown) or not all(self.errors[each] <= KNOWN_BOUND for each in self.misses())

    def verdict(self, entries):
        missed = [each for each in self.misses() if each in entries]
        reasons = [KNOWN_MISSES[self.name, each] for each in missed if (self.name, each) in KNOWN_MISSES]
        return " ".join(["MISSES", *reasons]) if missed else "passes"

    def figures(self, entry):
        spread = f"{self.spread[entry]:.1e}" if self.spread else ""
        return [f"{self.errors[entry]:.1e}", spread, f"{bound_of(entry, self.spread):.1e}"]

    def row(self):
        figures = [f"{self.moved:.2f}", *self.figures("losses"), *self.figures("weights")]
        return table_row([self.case.kind, self.name, *figures, self.verdict(BOUNDS)])

    def metric_rows(self):
        entries = [each for each in self.errors if each not in BOUNDS]
        return [table_row([self.name, each, *self.figures(each), self.verdict([each])]) for each in entries]


def measure_spread(folder, way, comparisons):
    if comparisons:
        train_in_process(folder, way, [each.name for each in comparisons])
    for each in comparisons:
        each.read_spread(way)


def table_row(cells):
    return f"| {' | '.join(cells)} |"


# --- Whether all classes have a case -------------------------------------------------------------


def check_classes(binaries):
    """Each class of the reference, of the kinds that are compared here, is named first by a case."""
    command = [binaries / "coordinator", "reference"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    named = {first_word(name) for name in CASES}
    measured = {type(metric).__name__ for case in CASES.values() for metric in case.metrics()}
    kinds = ["Optimizers", "Schedules", "Losses", "Regularizers", "Constraints"]
    tried = dict.fromkeys(kinds, named) | {"Metrics": measured}
    missing = []
    for section in text.split("\n## ")[1:]:
        kind, *lines = section.splitlines()
        classes = [line.removeprefix("### ") for line in lines if line.startswith("### ")]
        missing += [name for name in classes if kind in tried and name not in tried[kind]]
    assert not missing, f"no case for {missing}"


def first_word(name):
    return name.replace(",", " ").split()[0]


def compare_cases(binaries, folder, names, with_spread):
    train_in_process(folder, USUAL, names)
    comparisons = []
    for name in names:
        comparisons.append(Comparison(binaries, folder, name))
        print(comparisons[-1].row(), flush=True)
    measure_spread(folder, "graph", [each for each in comparisons if with_spread or each.misses()])
    measure_spread(folder, "eager", [each for each in comparisons if each.misses()])
    return comparisons


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], default=[])
    parser.add_argument("--record", type=pathlib.Path, help="Also writes the tables to this file.")
    parser.add_argument("--folder", type=pathlib.Path, help="Keeps Keras' results here, and takes those that are.")
    arguments = parser.parse_args()
    check_classes(arguments.binaries)
    with tempfile.TemporaryDirectory() as folder:
        comparisons = compare_cases(
            arguments.binaries.resolve(),
            (arguments.folder or pathlib.Path(folder)).resolve(),
            arguments.cases or list(CASES),
            arguments.record is not None,
        )
    rows = [comparison.row() for comparison in comparisons]
    metric_rows = [row for comparison in comparisons for row in comparison.metric_rows()]
    tables = TABLES.format(rows="\n".join(rows), metric_rows="\n".join(metric_rows))
    print(tables)
    versions = f"keras {keras.__version__}, tensorflow {tf.__version__}, {platform.machine()}"
    print(versions)
    if arguments.record:
        arguments.record.write_text(RECORD.format(tables=tables, versions=versions))
    failures = sum(comparison.fails() for comparison in comparisons)
    sys.exit(f"{failures} cases differ" if failures else 0)


TABLES = """| What | Case | Weights moved by | Losses | Keras' own | At most | Weights | Keras' own | At most | |
|---|---|---|---|---|---|---|---|---|---|
{rows}

| Case | Metric | Ours | Keras' own | At most | |
|---|---|---|---|---|---|
{metric_rows}
"""

RECORD = """# A hundred steps in Keras and in ours

`tests/interop/keras_trajectories.py build/release/bin --record tests/interop/TRAJECTORIES.md` wrote
this, with {versions}. What it compares stands at its head.

{tables}"""

if __name__ == "__main__":
    if sys.argv[1] == "--train":
        train_cases(pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
    else:
        main()
