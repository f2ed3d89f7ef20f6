"""Training steps of models beside a process that loops, against those on a quiet machine.

    compare_neighbour.py [MODEL...] [--threads 2] [--precision float32 mixed_bfloat16]
                         [--bin BIN] [--pairs 7] [--other-session]

Times MobileNetV2 and ResNet-18 (deploy/jobs), batch 16, in turn without and with one
process that loops. All of them run on as many cores as there are threads; on other
machines the neighbour would find a core of its own. (They are the first cores of Linux's
numbering, which may share a physical core.) With three runnable threads on two
cores a fair share takes 1.33 times as long. If the neighbour belongs to another session,
Linux's autogroup gives each session one of the two cores, and a fair share takes 2 times
as long.

Prints the seconds of a quiet step, how many times as long it takes beside the neighbour,
how many cores Linux gave it there, and how many times the processor time of a quiet step
it used there: 1 if threads that wait neither burn nor stall.
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
         f"precision={precision}"])


def run_steps(peer, steps):
    """Seconds and processor seconds of a step."""
    begin = peer.processor_seconds()
    seconds = peer.run(steps, peer_process.TIMEOUT_SECONDS)
    return seconds, (peer.processor_seconds() - begin) / steps


def measure(model, precision, arguments):
    """{column: [value of each pair]}"""
    neighbour = subprocess.Popen([sys.executable, "-c", "while True: pass"],
                                 start_new_session=arguments.other_session)
    neighbour.send_signal(signal.SIGSTOP)
    columns = {name: [] for name in ("quiet", "ratio", "cores", "work")}
    try:
        with model_peer(arguments.bin, model, precision, arguments) as peer:
            peer.run(2, peer_process.TIMEOUT_SECONDS)
            steps = max(3, int(arguments.seconds / peer.run(2, peer_process.TIMEOUT_SECONDS)))
            for _ in range(arguments.pairs):
                quiet, quiet_work = run_steps(peer, steps)
                neighbour.send_signal(signal.SIGCONT)
                beside, work = run_steps(peer, steps)
                neighbour.send_signal(signal.SIGSTOP)
                for name, value in (("quiet", quiet), ("ratio", beside / quiet),
                                    ("cores", work / beside), ("work", work / quiet_work)):
                    columns[name].append(value)
    finally:
        neighbour.kill()
        neighbour.wait()
    return columns


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
    parser.add_argument("--other-session", action="store_true", help="the neighbour's is another")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < arguments.threads:
        sys.exit(f"--threads: expected at most {len(cores)}, the number of cores, "
                 f"got {arguments.threads}")
    os.sched_setaffinity(0, cores[:arguments.threads])

    results = {}
    for model in arguments.models:
        for precision in arguments.precision:
            columns = measure(model, precision, arguments)
            results[f"{model}, {precision}"] = columns
            if not arguments.json:
                cells = [peer_process.describe(values) for values in columns.values()]
                print(f"| {model}, {precision} | {cells[0]} s | {' | '.join(cells[1:])} |",
                      flush=True)
    if arguments.json:
        print(json.dumps({row: {name: peer_process.summary(values)
                                for name, values in columns.items()}
                          for row, columns in results.items()}, indent=2))


if __name__ == "__main__":
    main()
