"""The figures of whole processes: those of one build against those of an earlier one.

    compare_figures.py OLD/build/release/bin FIGURE... [--new BIN] [--pairs 7]

A figure is one of FIGURES below; without one, all are taken; all_reduce only where
ring_benchmark is built, which needs Gloo. Runs both builds in
turn, each going first every other time, and prints how many times as good the new
one is: its rate over the old one's, or the old one's seconds or bytes over its own.
Leaves out rows that the old build does not measure yet, and names them.
Training steps of models alone: compare_builds.py.
"""

import argparse
import os

import compare_main_job
import compare_synchronous
import measure_memory
import peer_process

EPOCHS = 3


def parameter_server(folder):
    return {result["name"].removesuffix("/real_time"): result["bytes_per_second"]
            for result in peer_process.run_benchmark(f"{folder}/ps_benchmark",
                                                     "--benchmark_min_time=0.2")}


def all_reduce(folder):
    """Ours alone, though the benchmark times Gloo's as well."""
    return {result["run_name"].split("/iterations")[0]: 1 / result["ours_us"]
            for result in peer_process.run_benchmark(f"{folder}/ring_benchmark",
                                                     "--benchmark_filter=SharedMemory|Sockets")
            if result.get("aggregate_name") == "median"}


def overlap(folder):
    figures = {}
    for result in peer_process.run_benchmark(f"{folder}/overlap_benchmark"):
        if result.get("aggregate_name") == "median":
            # "Overlap": its name in builds without the one of parameter servers.
            name = result["run_name"].split("/")[0].replace("Overlap", "AllReduce")
            figures[f"{name}, a step"] = 1 / result["step_ms"]
            figures[f"{name}, a slow step"] = 1 / result["slow_step_ms"]
    return figures


def main_job(folder):
    run = compare_main_job.run_ours(f"{folder}/coordinator", EPOCHS)
    return {"main job, examples/s": run["examples_per_second"],
            "main job, first step": 1 / run["first_step_seconds"],
            "main job, memory of its server": 1 / run["ps_bytes"],
            "main job, memory of a worker": 1 / run["worker_bytes"]}


def synchronous(folder):
    coordinator = f"{folder}/coordinator"
    return {f"{strategy}, examples/s":
                compare_synchronous.run_ours(coordinator, EPOCHS, *settings)
            for strategy, settings in compare_synchronous.STRATEGIES.items()}


def memory(folder):
    peaks = measure_memory.peaks_of(f"{folder}/coordinator", "Adam", gigabytes=1, workers=1)
    return {f"1 GB under Adam, memory of {task}": 1 / peak for task, peak in peaks.items()}


FIGURES = {figure.__name__: figure
           for figure in (parameter_server, all_reduce, overlap, main_job, synchronous, memory)}


def ratios_of(figure, old, new, pairs):
    """{row: [of each pair, the new build's over the old one's]}, [rows the old build lacks]."""
    ratios = {}
    left_out = set()
    for pair in range(pairs):
        folders = [old, new] if pair % 2 == 0 else [new, old]
        values = {folder: figure(folder) for folder in folders}
        lost = sorted(values[old].keys() - values[new].keys())
        if lost:
            raise RuntimeError(f"{figure.__name__}: {new} lacks {', '.join(lost)}, which {old} has;"
                               " expected all rows of the old build")
        left_out |= values[new].keys() - values[old].keys()
        for row in values[old]:
            ratios.setdefault(row, []).append(values[new][row] / values[old][row])
    return dict(sorted(ratios.items())), sorted(left_out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", help="the folder of the earlier build's programs")
    parser.add_argument("figures", nargs="*", metavar="FIGURE",
                        help=f"of {', '.join(FIGURES)}")
    parser.add_argument("--new", default=f"{peer_process.ROOT}/build/release/bin")
    parser.add_argument("--pairs", type=int, default=7)
    arguments = parser.parse_args()
    has_ring = all(os.path.exists(f"{folder}/ring_benchmark")
                   for folder in (arguments.old, arguments.new))
    figures = arguments.figures or [
        name for name in FIGURES if has_ring or name != all_reduce.__name__]
    for name in figures:
        if name not in FIGURES:
            parser.error(f"there is no figure {name}; there are {', '.join(FIGURES)}")

    print(f"Median (quartiles) of {arguments.pairs} interleaved pairs\n")
    print("| figure | new / old |\n|---|---|")
    for name in figures:
        ratios, left_out = ratios_of(FIGURES[name], arguments.old, arguments.new, arguments.pairs)
        for row, values in ratios.items():
            print(f"| {row} | {peer_process.describe(values)} |", flush=True)
        for row in left_out:
            print(f"| {row} | left out: the old build does not measure it |", flush=True)


if __name__ == "__main__":
    main()
