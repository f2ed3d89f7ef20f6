"""The tutorial's job under a synchronous strategy, ours against the peers'.

    compare_synchronous.py {multi_worker_mirrored,mirrored} --tensorflow-python VENV/bin/python
                           [--torch-python VENV/bin/python] [--pairs 5] [--epochs 3]

Interleaves `coordinator run` with two replicas, TensorFlow's strategy of the
same name, PyTorch's DistributedDataParallel over Gloo (for
multi_worker_mirrored), and our own single process with both cores and the same
global batch; prints the ratios of examples/s.
"""

import argparse
import json
import subprocess
import tempfile

import peer_process

REPLICAS = 2

# What each sets in the job.
STRATEGIES = {"multi_worker_mirrored": [f"cluster={{worker: {REPLICAS}}}"],
              "mirrored": ["strategy=mirrored", "cluster={worker: 1}", f"devices={REPLICAS}"]}


def run_ours(coordinator, epochs, *settings):
    sets = [f"--set={setting}" for setting in (f"epochs={epochs}", *settings)]
    with tempfile.TemporaryDirectory() as output:
        subprocess.run([coordinator, "run", f"{peer_process.ROOT}/deploy/jobs/fashion_mnist_mirrored.yaml",
                        f"--set=global_batch_size={REPLICAS * peer_process.BATCH_SIZE}", *sets,
                        "--output", output],
                       stdout=subprocess.DEVNULL, timeout=peer_process.TIMEOUT_SECONDS, check=True)
        with open(f"{output}/result.json", encoding="utf-8") as file:
            return json.load(file)["timing"]["examples_per_second"]


def run_tensorflow(python, strategy, epochs):
    if strategy == "mirrored":
        return peer_process.run_peer(python, "tensorflow_step.py", strategy, epochs)["examples_per_second"]
    cluster = {"worker": peer_process.free_addresses(REPLICAS)}
    processes = [subprocess.Popen(
        [python, f"{peer_process.HERE}/peers/tensorflow_step.py", strategy, str(epochs)],
        env=peer_process.peer_environment(TF_USE_LEGACY_KERAS="1", TF_CONFIG=json.dumps(
            {"cluster": cluster, "task": {"type": "worker", "index": index}})),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for index in range(REPLICAS)]
    outputs = [process.communicate(timeout=peer_process.TIMEOUT_SECONDS)[0] for process in processes]
    return peer_process.parse_reports(outputs[0])["examples_per_second"]


def run_torch(python, epochs):
    address = peer_process.free_addresses(1)[0].rsplit(":", 1)
    processes = [subprocess.Popen(
        [python, f"{peer_process.HERE}/peers/pytorch_step.py", "ddp", str(epochs)],
        env=peer_process.peer_environment(RANK=str(rank), WORLD_SIZE=str(REPLICAS),
                                          MASTER_ADDR=address[0], MASTER_PORT=address[1]),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for rank in range(REPLICAS)]
    outputs = [process.communicate(timeout=peer_process.TIMEOUT_SECONDS)[0] for process in processes]
    return peer_process.parse_reports(outputs[0])["examples_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("strategy", choices=STRATEGIES)
    parser.add_argument("--tensorflow-python", help="Python with tensorflow-cpu and tf-keras 2.21")
    parser.add_argument("--torch-python", help="Python with torch")
    parser.add_argument("--coordinator",
                        default=f"{peer_process.ROOT}/build/release/bin/coordinator")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=3)
    arguments = parser.parse_args()

    runs = {"ours": lambda: run_ours(arguments.coordinator, arguments.epochs,
                                     *STRATEGIES[arguments.strategy]),
            "ours, one process": lambda: run_ours(arguments.coordinator, arguments.epochs,
                                                  "cluster={worker: 1}")}
    if arguments.tensorflow_python:
        runs["TensorFlow"] = lambda: run_tensorflow(arguments.tensorflow_python, arguments.strategy,
                                                    arguments.epochs)
    if arguments.torch_python and arguments.strategy == "multi_worker_mirrored":
        runs["PyTorch DDP"] = lambda: run_torch(arguments.torch_python, arguments.epochs)
    columns = {name: [] for name in runs}
    for _ in range(arguments.pairs):
        for name, run in runs.items():
            columns[name].append(run())
    print(f"Median (quartiles) of {arguments.pairs} interleaved runs of {arguments.epochs} epochs\n")
    print("| | examples/s | ours / theirs |\n|---|---|---|")
    for name, values in columns.items():
        ratios = [a / b for a, b in zip(columns["ours"], values)]
        ratio = "" if name == "ours" else peer_process.describe(ratios)
        print(f"| {name} | {peer_process.describe(values)} | {ratio} |")


if __name__ == "__main__":
    main()
