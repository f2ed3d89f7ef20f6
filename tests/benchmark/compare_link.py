"""Parameter servers behind a network: two builds side by side.

    compare_link.py OLD/build/release/bin [--new BIN] [--pairs 5] [--set FIELD=VALUE ...]
                    [--set-new FIELD=VALUE ...]

1 ps and 2 workers train MobileNetV2 on images of 160 x 160, batch 16, a thread each. Each
worker is behind a link of its own of 1 Gbit/s and 0.5 ms: it has a network namespace, out
of which `relay` (tests/relay) carries its connections, and a process namespace, so that it
does not share memory with the server. That takes root. Runs both builds in turn, each
going first every other time, and prints how many times the examples/s of the old build
the new one reaches. --set changes the job of both builds, --set-new that of the new one.
"""

import argparse
import json
import os
import random
import shutil
import struct
import subprocess
import tempfile

import peer_process

MEGABITS = 1000
LATENCY_MS = 0.5
SIZE = 160
EXAMPLES = 320
EPOCHS = 3
WORKERS = 2

NAMESPACES = ["unshare", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"]


def missing(folders, relay):
    """Yields what a run needs and this machine or these builds lack."""
    for path in [f"{folder}/{name}" for folder in folders
                 for name in ("coordinator", "ps_server", "worker")] + [relay]:
        if not os.access(path, os.X_OK):
            yield f"{path}: expected a program; build it"
    for tool in ("bash", "ip", "unshare"):
        if shutil.which(tool) is None:
            yield f"{tool}: not found in PATH; expected that of iproute2, util-linux or bash"
            return
    script = [*NAMESPACES, "ip", "link", "set", "lo", "up"]
    made = subprocess.run(script, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          timeout=60, check=False)
    if made.returncode != 0:
        yield f"{' '.join(script)}: {made.stderr.strip()}; it takes root"


def write_data(folder):
    """Random images, as the job names them."""
    with open(f"{folder}/images-idx4-ubyte", "wb") as file:
        file.write(struct.pack(">4B4I", 0, 0, 8, 4, EXAMPLES, SIZE, SIZE, 3))
        file.write(random.Random(1).randbytes(EXAMPLES * SIZE * SIZE * 3))
    with open(f"{folder}/labels-idx1-int", "wb") as file:
        file.write(struct.pack(">4BI", 0, 0, 12, 1, EXAMPLES))
        file.write(struct.pack(f">{EXAMPLES}i", *(i % 1000 for i in range(EXAMPLES))))


def start_worker(folder, relay, command, servers, environment):
    """A worker in namespaces of its own, from which it reaches the servers by links."""
    links = "".join(f"{relay} {server} {server} {MEGABITS} {LATENCY_MS} /proc/self/fd/9 & "
                    for server in servers)
    script = f"ip link set lo up; {links}exec {command}"
    return subprocess.Popen(
        ["bash", "-c",
         f"exec 9< /proc/self/ns/net; exec {' '.join(NAMESPACES)} bash -c '{script}'"],
        cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def examples_per_second(binaries, relay, data, settings):
    chief, server, *workers = peer_process.free_addresses(2 + WORKERS)
    cluster = {"chief": [chief], "ps": [server], "worker": workers}

    def environment(kind, index):
        return dict(os.environ, TF_CONFIG=json.dumps(
            {"cluster": cluster, "task": {"type": kind, "index": index}}))

    job = f"{peer_process.ROOT}/deploy/jobs/mobilenet_v2.yaml"
    fields = {"model.layers[0].Input.shape": f"[{SIZE}, {SIZE}, 3]", "epochs": EPOCHS,
              "data.train.idx.features": f"{data}/images-idx4-ubyte",
              "data.train.idx.labels": f"{data}/labels-idx1-int"}
    changes = [f"{field}={value}" for field, value in fields.items()] + settings
    with tempfile.TemporaryDirectory() as output:
        tasks = [subprocess.Popen([f"{binaries}/ps_server"], env=environment("ps", 0),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
        try:
            for index in range(WORKERS):
                tasks.append(start_worker(output, relay, f"{binaries}/worker --threads 1",
                                          [chief, server], environment("worker", index)))
            subprocess.run([f"{binaries}/coordinator", "run", job, "--output", f"{output}/out"]
                           + [word for change in changes for word in ("--set", change)],
                           env=environment("chief", 0), stdout=subprocess.DEVNULL,
                           timeout=peer_process.TIMEOUT_SECONDS, check=True)
            with open(f"{output}/out/result.json", encoding="utf-8") as file:
                return json.load(file)["timing"]["examples_per_second"]
        finally:
            for task in tasks:
                task.kill()
                task.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=os.path.abspath, help="folder of the earlier build's binaries")
    parser.add_argument("--new", type=os.path.abspath, default=f"{peer_process.ROOT}/build/release/bin")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--set", action="append", default=[], help="field=value of the job")
    parser.add_argument("--set-new", action="append", default=[],
                        help="field=value of the new build's job alone")
    arguments = parser.parse_args()

    relay = f"{peer_process.ROOT}/build/release/bin/relay"
    lacks = list(missing([arguments.old, arguments.new], relay))
    if lacks:
        parser.error("\n".join(["missing:", *lacks]))

    ratios = []
    with tempfile.TemporaryDirectory() as data:
        write_data(data)
        for pair in range(arguments.pairs):
            rates = {}
            for is_new in [False, True][::1 if pair % 2 == 0 else -1]:
                rates[is_new] = examples_per_second(
                    arguments.new if is_new else arguments.old, relay, data,
                    arguments.set + (arguments.set_new if is_new else []))
            ratios.append(rates[True] / rates[False])
            print(f"{rates[False]:.2f} and {rates[True]:.2f} examples/s: {ratios[-1]:.3f}",
                  flush=True)
    print(f"median (quartiles): {peer_process.describe(ratios)}")


if __name__ == "__main__":
    main()
