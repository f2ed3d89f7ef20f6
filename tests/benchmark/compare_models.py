"""Training steps of whole models: ours against TensorFlow and PyTorch, and in bfloat16.

    compare_models.py MODEL --tensorflow-python VENV/bin/python [--torch-python …] [--pairs 5]

MODEL is one of MODEL_OF below, from our own job, or, if it has none or with
--keras-file, from the `.keras` file that TensorFlow's Keras writes of its model:
float32, all layers trained. Interleaves `model_benchmark` with each peer at its
best setting, which it finds first, and, with --bfloat16, with itself under
`precision: mixed_bfloat16`; prints the ratios of the steps.
"""

import argparse
import json
import os
import subprocess
import tempfile
import typing

import peer_process
import step_peer


class Model(typing.NamedTuple):
    """The shape of an example is [size, size, *channels], or that of the Keras file."""
    job: str
    size: int
    channels: list
    batch: int


MODEL_OF = {
    "resnet18": Model("deploy/jobs/resnet18.yaml", 224, [3], 16),
    "resnet50": Model(None, 224, [3], 16),
    "mobilenet_v2": Model("deploy/jobs/mobilenet_v2.yaml", 160, [3], 16),
    "efficientnet_b0": Model(None, 224, [3], 16),  # no PyTorch
    "lstm": Model("tests/benchmark/models/lstm.yaml", 28, [], 64),
    "attention": Model(None, 64, [128], 64),
}
MODES = {
    "TensorFlow": ("model_step_tensorflow.py", ["graph", "xla"]),
    "PyTorch": ("model_step_pytorch.py",
                ["eager-contiguous", "eager-channels_last", "compile-contiguous",
                 "compile-channels_last"]),
}


def fastest(name, python, arguments):
    """The peer in the mode whose warm steps are the shortest, the mode, and what each took."""
    script, modes = MODES[name]
    model = MODEL_OF[arguments.model]
    best, best_mode, best_seconds, tried = None, None, None, {}
    for mode in modes:
        peer = step_peer.StepPeer(
            [python, f"{peer_process.HERE}/peers/{script}", arguments.model,
             str(model.size), str(model.batch), str(arguments.threads), mode],
            peer_process.peer_environment())
        try:
            peer.run(2, peer_process.TIMEOUT_SECONDS)
            seconds = peer.run(arguments.steps, peer_process.TIMEOUT_SECONDS)
        except step_peer.PeerError:
            tried[mode] = None
            peer.end()
            continue
        tried[mode] = seconds
        worse = peer
        if best is None or seconds < best_seconds:
            best, best_mode, best_seconds, worse = peer, mode, seconds, best
        if worse is not None:
            worse.end()
    if best is None:
        raise RuntimeError(f"{name} runs in none of {modes}")
    return best, best_mode, tried


def job_of_keras_file(arguments, folder):
    """Writes the file, and a job that takes model, optimizer and loss from it."""
    subprocess.run(
        [arguments.tensorflow_python, f"{peer_process.HERE}/peers/model_step_tensorflow.py",
         arguments.model, str(MODEL_OF[arguments.model].size), "save", f"{folder}/model.keras"],
        env=peer_process.peer_environment(), stdout=subprocess.DEVNULL,
        timeout=peer_process.TIMEOUT_SECONDS, check=True)
    job = {
        "strategy": "mirrored",
        "model": "model.keras",
        "data": {"train": {"npz": {"file": "not_read.npz", "features": "x", "labels": "y"}}},
        "batch_size_per_replica": MODEL_OF[arguments.model].batch,
    }
    with open(f"{folder}/job.json", "w", encoding="utf-8") as file:
        json.dump(job, file)
    return [f"{folder}/job.json"]


def our_job(arguments, folder):
    """The job file and what is set in it, as arguments."""
    model = MODEL_OF[arguments.model]
    if arguments.keras_file or model.job is None:
        return job_of_keras_file(arguments, folder)
    shape = [model.size, model.size, *model.channels]
    return [f"{peer_process.ROOT}/{model.job}", "--set", f"model.layers[0].Input.shape={shape}"]


def our_peer(arguments, job, precision):
    return step_peer.StepPeer(
        [arguments.benchmark, *job, "--set", f"precision={precision}",
         "--batch", str(MODEL_OF[arguments.model].batch), "--threads", str(arguments.threads)])


def measure(arguments, job):
    """Seconds per step by peer, the peers' modes, and what each mode took."""
    pythons = {"TensorFlow": arguments.tensorflow_python, "PyTorch": arguments.torch_python}
    peers, modes, tried = {"ours": our_peer(arguments, job, "float32")}, {}, {}
    try:
        for name, python in pythons.items():
            if python is not None:
                peers[name], modes[name], tried[name] = fastest(name, python, arguments)
        if arguments.bfloat16:
            peers["ours, mixed_bfloat16"] = our_peer(arguments, job, "mixed_bfloat16")
        for name in peers.keys() - modes.keys():
            peers[name].run(2, peer_process.TIMEOUT_SECONDS)
        columns = step_peer.pairs_of(peers, dict.fromkeys(peers, arguments.steps),
                                     arguments.pairs, peer_process.TIMEOUT_SECONDS)
    finally:
        for peer in peers.values():
            peer.end()
    return columns, modes, tried


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=MODEL_OF)
    parser.add_argument("--tensorflow-python", help="Python with tensorflow-cpu 2.21")
    parser.add_argument("--torch-python", help="Python with torch")
    parser.add_argument("--keras-file", action="store_true",
                        help="ours trains the .keras file of TensorFlow's model")
    parser.add_argument("--bfloat16", action="store_true",
                        help="also ours in mixed_bfloat16, which the CPU must have")
    parser.add_argument("--benchmark",
                        default=f"{peer_process.ROOT}/build/release/bin/model_benchmark")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count()))
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=3, help="timed steps of a run")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        columns, modes, tried = measure(arguments, our_job(arguments, folder))
    ratios = {name: [theirs / ours for ours, theirs in zip(columns["ours"], columns[name])]
              for name in modes}
    if arguments.bfloat16:
        ratios["ours, mixed_bfloat16"] = [
            theirs / ours for ours, theirs in zip(columns["ours, mixed_bfloat16"],
                                                  columns["ours"])]
    if arguments.json:
        print(json.dumps({
            "tried_seconds": tried,
            "seconds": {name: peer_process.summary(values) for name, values in columns.items()},
            "ratio": {name: peer_process.summary(values) for name, values in ratios.items()},
        }, indent=2))
        return
    print(f"{arguments.model}: median (quartiles) of {arguments.pairs} interleaved runs of "
          f"{arguments.steps} steps on {arguments.threads} cores\n")
    print("| | s/step | ratio |\n|---|---|---|")
    for name, values in columns.items():
        mode = f", {modes[name]}" if name in modes else ""
        ratio = peer_process.describe(ratios[name]) if name in ratios else ""
        print(f"| {name}{mode} | {peer_process.describe(values)} | {ratio} |")
    print("\nRatio: of a peer's time to ours; of float32's to mixed_bfloat16's.")
    print(f"Tried, s/step: {json.dumps(tried)}")


if __name__ == "__main__":
    main()
