"""Training with all callbacks, against training without.

    compare_callbacks.py [--pairs 5] [--epochs 6] [--only parameter_server]

The tutorial's job, by a parameter server and two workers and by two replicas of `mirrored`. The
callbacks write, post and run at the end of each epoch, and TensorBoard also at batches; the model
and a checkpoint are written each epoch, to be restored. A rate is that of all examples from the
first step to the end of the job, so that it has what happens between epochs.
"""

import argparse
import http.server
import json
import os
import subprocess
import tempfile
import threading

import peer_process

EXAMPLES = 60000
JOBS = {"parameter_server": "fashion_mnist", "mirrored": "fashion_mnist_mirrored"}
MIRRORED = {"strategy": "mirrored", "cluster": "null", "devices": 2}
SETTINGS = {"parameter_server": {}, "mirrored": MIRRORED}

# {port} is that of the RemoteMonitor's server.
CALLBACKS = """[
  {{BackupAndRestore: {{backup_dir: checkpoint}}}},
  {{TensorBoard: {{log_dir: logs, update_freq: 50}}}},
  {{ModelCheckpoint: {{filepath: "models/{{epoch:02d}}.keras"}}}},
  {{LearningRateScheduler: {{schedule: "lr * 0.99"}}}},
  {{ReduceLROnPlateau: {{monitor: loss}}}},
  {{EarlyStopping: {{monitor: loss, patience: 100, restore_best_weights: true}}}},
  {{CSVLogger: {{filename: log.csv}}}},
  {{TerminateOnNaN: {{}}}},
  {{RemoteMonitor: {{root: "http://127.0.0.1:{port}"}}}},
  {{Exec: {{command: [wc, -c], on: [epoch_begin, epoch_end]}}}}]"""


class Monitor(http.server.BaseHTTPRequestHandler):
    """Takes what RemoteMonitor posts."""

    def do_POST(self):  # pylint: disable=invalid-name
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


def rate(coordinator, strategy, epochs, settings):
    settings = {**SETTINGS[strategy], "epochs": epochs, "checkpoint": "null", "data.test": "null", **settings}
    with tempfile.TemporaryDirectory() as output:
        subprocess.run([coordinator, "run", f"{peer_process.ROOT}/deploy/jobs/{JOBS[strategy]}.yaml",
                        "--output", output, *(f"--set={path}={value}" for path, value in settings.items())],
                       stdout=subprocess.DEVNULL, timeout=peer_process.TIMEOUT_SECONDS, check=True)
        with open(f"{output}/result.json", encoding="utf-8") as file:
            timing = json.load(file)["timing"]
    return EXAMPLES * epochs / (timing["total_seconds"] - timing["first_step_seconds"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coordinator", default=f"{peer_process.ROOT}/build/release/bin/coordinator")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--only", choices=JOBS)
    arguments = parser.parse_args()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Monitor)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    callbacks = " ".join(CALLBACKS.format(port=server.server_port).split())
    print(f"Median (quartiles) of {arguments.pairs} interleaved pairs on {os.cpu_count()} cores\n")
    print("| strategy | examples/s without | with all | ratio |\n|---|---|---|---|")
    for strategy in [arguments.only] if arguments.only else JOBS:
        pairs = [[rate(arguments.coordinator, strategy, arguments.epochs, settings)
                  for settings in ({}, {"callbacks": callbacks})] for _ in range(arguments.pairs)]
        without, with_all = zip(*pairs)
        ratios = [b / a for a, b in pairs]
        print("| " + " | ".join([strategy, *map(peer_process.describe, (without, with_all, ratios))]) + " |",
              flush=True)


if __name__ == "__main__":
    main()
