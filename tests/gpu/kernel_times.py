"""The times of kernels, as NVIDIA's Nsight Compute (ncu) writes them."""

import collections
import csv
import re

SECONDS = {"second": 1, "s": 1, "msecond": 1e-3, "ms": 1e-3, "usecond": 1e-6, "us": 1e-6,
           "nsecond": 1e-9, "ns": 1e-9}
NAME_LENGTH = 90


def short_name(name):
    """Our kernels by the name of their body, others cut."""
    ours = re.search(r"Run<(.*)>\(", name)
    if ours:
        name = ours.group(1).replace("paceline::cuda::", "").replace("paceline::", "")
    return name[:NAME_LENGTH]


def of_log(lines):
    """{kernel: [seconds of each launch]} from the CSV, which has other lines around it."""
    times = collections.defaultdict(list)
    for row in csv.DictReader(line for line in lines if line.startswith('"')):
        value = float(row["Metric Value"].replace(",", ""))
        times[short_name(row["Kernel Name"])].append(value * SECONDS[row["Metric Unit"]])
    return dict(times)


def table(times, steps):
    """Lines, with the kernel that takes most of a step first."""
    total = sum(map(sum, times.values()))
    lines = [f"{len(times)} kernels, {total / steps * 1e3:.2f} ms a step in all",
             f"{'ms':>8} {'share':>6} {'launches':>8}  kernel"]
    for name, values in sorted(times.items(), key=lambda item: -sum(item[1])):
        lines.append(f"{sum(values) / steps * 1e3:8.3f} {sum(values) / total:6.1%} "
                     f"{len(values) / steps:8.1f}  {name}")
    return lines
