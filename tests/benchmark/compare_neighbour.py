"""Training steps of models beside a process that loops, against those on a quiet machine.

    compare_neighbour.py [MODEL...] [--threads 2] [--precision float32 mixed_bfloat16]
                         [--bin BIN] [--pairs 7]

Times MobileNetV2 and ResNet-18 (deploy/jobs), batch 16, in turn without and with one
process that loops. All of them run on as many cores as there are threads; on other
machines the neighbour would find a core of its own. With three runnable threads on two
cores a fair share takes 1.33 times as long.
"""

import argparse
import json
import os
import signal
import subprocess
import sys

import peer_process
import step_peer

SIZES = {"mobilenet_v2": 160, "resnet18": 224}


def model_peer(binary, model, precision, arguments):
    size = SIZES[model]
    return step_peer.StepPeer(
        [binary, f"{peer_process.ROOT}/deploy/jobs/{model}.yaml", "--batch",
         str(arguments.batch), "--threads", str(arguments.threads), "--set",
         f"model.layers[0].Input.shape=[{size}, {size}, 3]", "--set",
         f"precision={precision}"],
        environment=dict(os.environ, OMP_WAIT_POLICY="PASSIVE"))


def ratios_of(model, precision, arguments):
    """Quiet seconds of a step, and of each pair those beside the neighbour over them."""
    neighbour = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    neighbour.send_signal(signal.SIGSTOP)
    quiet, ratios = [], []
    try:
        with model_peer(arguments.bin, model, precision, arguments) as peer:
            peer.run(2, peer_process.TIMEOUT_SECONDS)
            steps = max(3, int(arguments.seconds / peer.run(2, peer_process.TIMEOUT_SECONDS)))
            for _ in range(arguments.pairs):
                quiet.append(peer.run(steps, peer_process.TIMEOUT_SECONDS))
                neighbour.send_signal(signal.SIGCONT)
                ratios.append(peer.run(steps, peer_process.TIMEOUT_SECONDS) / quiet[-1])
                neighbour.send_signal(signal.SIGSTOP)
    finally:
        neighbour.kill()
        neighbour.wait()
    return quiet, ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=list(SIZES), metavar="MODEL",
                        help="; ".join(SIZES))
    parser.add_argument("--bin", default=f"{peer_process.ROOT}/build/release/bin/model_benchmark")
    parser.add_argument("--precision", nargs="+", default=["float32", "mixed_bfloat16"])
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3, help="of a run, about")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < arguments.threads:
        sys.exit(f"--threads: expected at most {len(cores)}, the number of cores, "
                 f"got {arguments.threads}")
    os.sched_setaffinity(0, cores[:arguments.threads])

    results = []
    for model in arguments.models:
        for precision in arguments.precision:
            quiet, ratios = ratios_of(model, precision, arguments)
            results.append((model, precision, quiet, ratios))
            if not arguments.json:
                print(f"| {model}, {precision} | {peer_process.describe(quiet)} s | "
                      f"{peer_process.describe(ratios)} |", flush=True)
    if arguments.json:
        print(json.dumps({f"{model}, {precision}": {"quiet": peer_process.summary(quiet),
                                                    "ratio": peer_process.summary(ratios)}
                          for model, precision, quiet, ratios in results}, indent=2))


if __name__ == "__main__":
    main()
