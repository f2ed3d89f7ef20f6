"""What `run` checks on a GPU, stage by stage: these fail, or pass."""

import collections
import contextlib
import glob
import json
import os
import re
import shutil
import subprocess

import peer_process
import suite
from programs import NAMES
from results import failed, passed, skipped
from runner import TOO_LONG, Stage, explain, last_lines

# After one epoch; the CPU has 0.86 to 0.88.
MIN_ACCURACY = 0.84
CONFORMANCE = "device_conformance_test"
# The test that is skipped where the machine has no GPU, or the build no plug-in.
IS_UNDER_TEST = "GpuTest.IsUnderTest"
# Of what failed cases say.
CASES_IN_FULL = 40
LINES_OF_A_CASE = 12
# What workers log whose gradients are summed up by NCCL.
SUMMED_BY_GPUS = "are summed up from GPU to GPU"


def programs_start(runner):
    """Every program starts, and the plug-in finds its libraries."""
    for name in NAMES:
        option = "--gtest_list_tests" if name.endswith("_test") else "--version"
        code, output = runner.ours(name, option)
        if code != 0:
            return failed(f"{name}: {explain(code, output)}")
    return passed("with " + runner.programs.glibc + " glibc")


def described(outcome, case):
    """A failed case, with the first of what it said."""
    return "\n".join([case, *(f"    {line}" for line in outcome.said[case][:LINES_OF_A_CASE])])


def verdict(outcome):
    """Passed if some cases did, and every other one was skipped."""
    if outcome.results.get(IS_UNDER_TEST) == suite.SKIPPED:
        return failed("\n".join(["no GPU is under test", *outcome.said[IS_UNDER_TEST]]))
    # It passes where there is a GPU, and is no case.
    passes = [case for case in outcome.those(suite.OK) if case != IS_UNDER_TEST]
    skips, failures = outcome.those(suite.SKIPPED), outcome.those(suite.FAILED)
    unended = outcome.those(None)
    count = len(passes + skips + failures + unended)
    text = f"{len(passes)} of {count} cases passed, {len(skips)} skipped"
    if unended:
        text += f", {len(unended)} did not end"
    if not passes or failures or unended or outcome.troubles:
        return failed("\n".join([text, *outcome.troubles,
                                 *(described(outcome, case) for case in failures[:CASES_IN_FULL]),
                                 *failures[CASES_IN_FULL:]]))
    reasons = collections.Counter(
        reason for case in skips
        for reason in re.findall(r": Skipped\n(.+)", "\n".join(outcome.said[case])))
    return passed("\n".join([text, *(f"skipped, {count} times: {reason}"
                                     for reason, count in reasons.most_common())]))


def conformance_on_fake(runner):
    """The device's code, on the host."""
    return verdict(suite.run(runner, CONFORMANCE, "*/cuda_on_fake*"))


def conformance(runner):
    """Every kernel on the GPU against the reference."""
    return verdict(suite.run(runner, CONFORMANCE, "GpuTest.*:*/cuda:*/cuda_*-*/cuda_on_fake*"))


def updates(where):
    """Jobs whose variables the device updates: "OnGpu", or "OnFake"."""
    return lambda runner: verdict(
        suite.run(runner, "strategies_conformance_test", f"{where}/DeviceUpdateTest.*"))


def sanitizer(runner):
    """compute-sanitizer's memcheck over some cases."""
    tool = shutil.which("compute-sanitizer") or next(
        iter(sorted(glob.glob("/usr/local/cuda*/bin/compute-sanitizer"))), None)
    if tool is None:
        return skipped("compute-sanitizer is not installed")
    if runner.programs.uses_own_glibc:
        return skipped("compute-sanitizer is of another glibc than the bundle's, which is in use")
    # We check our calls of the API ourselves, and NVIDIA's libraries try some that fail.
    before = [tool, "--tool", "memcheck", "--error-exitcode", "9", "--leak-check", "no",
              "--report-api-errors", "no"]
    outcome = suite.run(runner, CONFORMANCE, "*DeviceCaseTest*/cuda_*_batch_5-*/cuda_on_fake*",
                        before)
    result = verdict(outcome)
    # What it says of itself is no error of ours.
    if (outcome.troubles and not outcome.those(suite.FAILED) and
            all(any(obstacle in trouble for obstacle in ("Device not supported", TOO_LONG))
                for trouble in outcome.troubles)):
        return skipped(f"compute-sanitizer: {result.detail}")
    return result


def data_overrides(root):
    names = {"train": "train", "test": "t10k"}
    return [f"data.{part}.idx.{what}={root}/data/{name}-{file}"
            for part, name in names.items()
            for what, file in (("features", "images-idx3-ubyte"), ("labels", "labels-idx1-ubyte"))]


def accuracy_of(output_dir):
    """What the run that wrote into this folder ended with."""
    with open(f"{output_dir}/result.json", encoding="utf-8") as file:
        return json.load(file)["evaluation"]["accuracy"]


def devices_of_one_worker(runner):
    """The override: a replica on each of its GPUs, at most two."""
    return f"devices={max(1, min(2, runner.gpu_count))}"


def overrides_of(strategy, runner):
    cluster = {
        "parameter_server": ["cluster={ps: 1, worker: 2}"],
        "multi_worker_mirrored": ["cluster={worker: 2}"],
    }.get(strategy, ["cluster=null", devices_of_one_worker(runner)])
    overrides = [f"strategy={strategy}", f"device={runner.device}", "epochs=1", *cluster,
                 *data_overrides(runner.programs.root)]
    return [word for override in overrides for word in ("--set", override)]


def run_cluster(strategy, output_dir, runner):
    """(exit code, output) of a cluster that the coordinator starts."""
    return runner.ours("coordinator", "run", "deploy/jobs/fashion_mnist.yaml", "--output",
                       output_dir, *overrides_of(strategy, runner))


def visible_gpu(index):
    """As CUDA_VISIBLE_DEVICES names it, of those that we may see."""
    ours = os.environ.get("CUDA_VISIBLE_DEVICES")
    return ours.split(",")[index] if ours else str(index)


def run_by_hand(strategy, output_dir, runner):
    """The same of two workers that are started by hand, with a GPU each; the first leads."""
    addresses = peer_process.free_addresses(2)
    path = runner.programs.path("worker")

    def environment(index):
        cluster = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
        return {"TF_CONFIG": json.dumps(cluster), "CUDA_VISIBLE_DEVICES": visible_gpu(index)}

    with contextlib.ExitStack() as stack:
        os.makedirs(f"{output_dir}/logs", exist_ok=True)
        log = stack.enter_context(open(f"{output_dir}/logs/second.log", "w", encoding="utf-8"))
        second = subprocess.Popen([path], env=runner.programs.environment() | environment(1),
                                  cwd=runner.programs.root, stdout=log, stderr=log)
        stack.callback(second.wait)
        stack.callback(second.kill)
        code, output = runner.ours("worker", "--job", "deploy/jobs/fashion_mnist.yaml", "--output",
                                   output_dir, *overrides_of(strategy, runner),
                                   **environment(0))
    with open(f"{output_dir}/logs/second.log", encoding="utf-8") as file:
        return code, output + file.read()


def logs_of(output_dir):
    text = ""
    for path in glob.glob(f"{output_dir}/logs/*.log"):
        with open(path, encoding="utf-8", errors="replace") as file:
            text += file.read()
    return text


def training(strategy):
    """Fashion-MNIST, one epoch."""

    def run(runner):
        output_dir = f"{runner.folder}/{strategy}"
        has_two = runner.gpu_count > 1
        run_job = (run_by_hand if has_two and strategy == "multi_worker_mirrored" else run_cluster)
        code, output = run_job(strategy, output_dir, runner)
        if code != 0:
            return failed(explain(code, output))
        accuracy = accuracy_of(output_dir)
        if accuracy < MIN_ACCURACY:
            return failed(f"accuracy {accuracy:.4f}; expected at least {MIN_ACCURACY}")
        text = f"accuracy {accuracy:.4f}"
        if has_two and strategy in ("mirrored", "multi_worker_mirrored"):
            if SUMMED_BY_GPUS not in output + logs_of(output_dir):
                return failed(f"{text}, but no log says that gradients {SUMMED_BY_GPUS}\n" +
                              last_lines(output))
            text += ", two GPUs, gradients summed up by NCCL"
        return passed(text)

    return run


def training_stages():
    return [Stage(f"Fashion-MNIST, {strategy}", 15, 60, training(strategy))
            for strategy in ("parameter_server", "mirrored", "multi_worker_mirrored",
                             "central_storage")]


def check_stages():
    """Before anything is measured."""
    return [Stage("programs start", 5, 60, programs_start),
            Stage("conformance suite on the GPU", 20, 180, conformance),
            Stage("updates on the GPU", 10, 60, updates("OnGpu")), *training_stages()]


def sanitizer_stage():
    return Stage("compute-sanitizer", 30, 100, sanitizer)


def stages_without_gpu():
    """What of this the CPU can do."""
    return [Stage("programs start", 5, 60, programs_start),
            Stage("conformance suite on the fake GPU", 20, 180, conformance_on_fake),
            Stage("updates on the fake GPU", 10, 60, updates("OnFake")), *training_stages()]
