"""Training steps of models: those of one build against those of an earlier one.

    compare_builds.py OLD/build/release/bin/model_benchmark JOB... [--pairs 11] [--set FIELD=VALUE]

Times the models of jobs (deploy/jobs, tests/benchmark/models) in both builds, in
turn, and prints how many times as fast the new one is. Batches are made up, so the
data of a job need not be there.
"""

import argparse
import json
import os

import peer_process
import step_peer


def ratios_of(job, arguments):
    """Of each pair, the seconds of the old build over those of the new one."""
    peers = {}
    try:
        for name, benchmark in ("old", arguments.old), ("new", arguments.new):
            peers[name] = step_peer.StepPeer(
                [benchmark, job, "--batch", str(arguments.batch), "--threads",
                 str(arguments.threads)]
                + [word for change in arguments.set for word in ("--set", change)])
            peers[name].run(2, peer_process.TIMEOUT_SECONDS)
        seconds = peers["old"].run(3, peer_process.TIMEOUT_SECONDS)
        steps = max(3, int(arguments.seconds / seconds))
        columns = step_peer.pairs_of(peers, dict.fromkeys(peers, steps), arguments.pairs,
                                     peer_process.TIMEOUT_SECONDS)
    finally:
        for peer in peers.values():
            peer.end()
    return [old / new for old, new in zip(columns["old"], columns["new"])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", help="the earlier build's model_benchmark")
    parser.add_argument("jobs", nargs="+", metavar="JOB")
    parser.add_argument("--new",
                        default=f"{peer_process.ROOT}/build/release/bin/model_benchmark")
    parser.add_argument("--batch", type=int, default=peer_process.BATCH_SIZE)
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count()))
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=0.8, help="of a run, about")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE",
                        help="changes a field of each job")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()

    ratios = {os.path.splitext(os.path.basename(job))[0]: ratios_of(job, arguments)
              for job in arguments.jobs}
    if arguments.json:
        print(json.dumps({name: peer_process.summary(values) for name, values in ratios.items()},
                         indent=2))
        return
    print(f"Median (quartiles) of {arguments.pairs} interleaved pairs, batch {arguments.batch}, "
          f"{arguments.threads} threads\n")
    print("| model | old / new |\n|---|---|")
    for name, values in ratios.items():
        print(f"| {name} | {peer_process.describe(values)} |")


if __name__ == "__main__":
    main()
