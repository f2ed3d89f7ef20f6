"""What `run` does on a GPU, stage by stage."""

import collections
import glob
import json
import os
import re
import shutil
import subprocess
import time

import nvidia_libraries
from programs import NAMES

# After one epoch; the CPU has 0.86 to 0.88.
MIN_ACCURACY = 0.84
TIME_OVER = "no time left"
TOO_LONG = "took too long"
# The test that is skipped where the conformance suite has no GPU.
IS_UNDER_TEST = "GpuTest.IsUnderTest"


class Result:
    """Of a stage: `state` is passed, failed or skipped, `detail` says more."""

    def __init__(self, state, detail, figures=None):
        self.state = state
        self.detail = detail
        # Rows of a table of benchmarks: (what, ours, theirs, ratio).
        self.figures = figures or []


def passed(detail, figures=None):
    return Result("passed", detail, figures)


def failed(detail):
    return Result("failed", detail)


def skipped(detail):
    return Result("skipped", detail)


class Budget:
    """Seconds that the whole run has."""

    def __init__(self, seconds):
        self._end = time.monotonic() + seconds

    def left(self):
        return self._end - time.monotonic()


class Runner:
    """Runs commands within the budget, in a folder of their own."""

    def __init__(self, programs, folder, budget, gpu_count):
        self.programs = programs
        self.folder = folder
        self.budget = budget
        self.gpu_count = gpu_count

    def ours(self, name, *arguments, limit, before=()):
        """Our program; `before` is what runs it. See run."""
        return self.run([*before, self.programs.path(name), *arguments], limit,
                        self.programs.environment())

    def run(self, command, limit, environment=None):
        """(exit code, output); the code is None after `limit` seconds or the budget's."""
        process = subprocess.Popen(command, cwd=self.programs.root, env=environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   errors="replace", start_new_session=True)
        try:
            output, _ = process.communicate(timeout=max(1, min(limit, self.budget.left())))
            return process.returncode, output
        except subprocess.TimeoutExpired:
            # Its children too, which are of its session.
            os.killpg(process.pid, 9)
            return None, process.communicate()[0]


def last_lines(output, count=15):
    return "\n".join(output.strip().splitlines()[-count:])


def explain(code, output):
    why = TOO_LONG if code is None else f"exit code {code}"
    return f"{why}\n{last_lines(output)}"


def programs_start(runner):
    """Every program starts, and the plug-in finds its libraries."""
    for name in NAMES:
        option = "--gtest_list_tests" if name.endswith("_test") else "--version"
        code, output = runner.ours(name, option, limit=60)
        if code != 0:
            return failed(f"{name}: {explain(code, output)}")
    return passed("with " + runner.programs.glibc + " glibc")


def count_tests(path):
    """(run, failed names, skipped names) of GoogleTest's report."""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    run, failures, skips = 0, [], []
    for suite in report["testsuites"]:
        for test in suite["testsuite"]:
            name = f"{suite['name']}.{test['name']}".lstrip("/")
            # It passes where there is a GPU, and is no case.
            if test["status"] != "RUN" or (name == IS_UNDER_TEST and
                                           test["result"] != "SKIPPED"):
                continue
            run += 1
            if test["result"] == "SKIPPED":
                skips.append(name)
            elif "failures" in test:
                failures.append(name)
    return run, failures, skips


def conformance_of(runner, gtest_filter, limit, before=()):
    report = f"{runner.folder}/conformance.json"
    if os.path.exists(report):
        os.remove(report)
    code, output = runner.ours("device_conformance_test", f"--gtest_filter={gtest_filter}",
                               f"--gtest_output=json:{report}", limit=limit, before=before)
    if not os.path.exists(report):
        return failed(explain(code, output))
    run, failures, skips = count_tests(report)
    ended_well = code == 0 and not failures
    text = f"{run - len(failures) - len(skips)} of {run} cases passed, {len(skips)} skipped"
    reasons = collections.Counter(re.findall(r": Skipped\n(.+)", output))
    why = [f"skipped, {count} times: {reason}" for reason, count in reasons.most_common()]
    if IS_UNDER_TEST in skips:
        return failed("no GPU is under test\n" + last_lines(output))
    if run - len(skips) < 1 or not ended_well:
        return failed("\n".join([text, *failures, explain(code, output)]))
    return passed("\n".join([text, *why]))


def conformance_on_fake(runner):
    """The device's code, on the host."""
    return conformance_of(runner, "*/cuda_on_fake*", 120)


def conformance(runner):
    """Every kernel on the GPU against the reference."""
    return conformance_of(runner, "GpuTest.*:*/cuda:*/cuda_*-*/cuda_on_fake*", 150)


def sanitizer(runner):
    """compute-sanitizer's memcheck over some cases."""
    tool = shutil.which("compute-sanitizer") or next(
        iter(sorted(glob.glob("/usr/local/cuda*/bin/compute-sanitizer"))), None)
    if tool is None:
        return skipped("compute-sanitizer is not installed")
    if runner.programs.uses_own_glibc:
        return skipped("compute-sanitizer is of another glibc than the bundle's, which is in use")
    before = [tool, "--tool", "memcheck", "--error-exitcode", "9", "--leak-check", "no"]
    result = conformance_of(runner, "*DeviceCaseTest*/cuda_*_batch_5-*/cuda_on_fake*", 100, before)
    # What it says of itself is no error of ours.
    for obstacle in ("Device not supported", TOO_LONG):
        if result.state == "failed" and obstacle in result.detail:
            return skipped(f"compute-sanitizer: {obstacle}\n{result.detail}")
    return result


def data_overrides(root):
    names = {"train": "train", "test": "t10k"}
    return [f"data.{part}.idx.{what}={root}/data/{name}-{file}.gz"
            for part, name in names.items()
            for what, file in (("features", "images-idx3-ubyte"), ("labels", "labels-idx1-ubyte"))]


def training(strategy):
    """Fashion-MNIST, one epoch on the GPU."""

    def run(runner):
        devices = min(2, runner.gpu_count)
        cluster = {
            "parameter_server": ["cluster={ps: 1, worker: 2}"],
            "multi_worker_mirrored": ["cluster={worker: 2}"],
        }.get(strategy, ["cluster=null", f"devices={devices}"])
        output_dir = f"{runner.folder}/{strategy}"
        overrides = [f"strategy={strategy}", "device=cuda", "epochs=1", *cluster,
                     *data_overrides(runner.programs.root)]
        code, output = runner.ours(
            "coordinator", "run", "deploy/jobs/fashion_mnist.yaml", "--output", output_dir,
            *(word for override in overrides for word in ("--set", override)), limit=70)
        if code != 0:
            return failed(explain(code, output))
        with open(f"{output_dir}/result.json", encoding="utf-8") as file:
            result = json.load(file)
        accuracy = result["evaluation"]["accuracy"]
        if accuracy < MIN_ACCURACY:
            return failed(f"accuracy {accuracy:.4f}; expected at least {MIN_ACCURACY}")
        rate = result["timing"]["examples_per_second"]
        return passed(f"accuracy {accuracy:.4f}, {rate:,.0f} examples/s")

    return run


def copies_and_update(runner):
    """Pinned memory to the GPU and back; Adam over 100 million parameters."""
    code, output = runner.ours("gpu_benchmark", limit=60)
    if code != 0:
        return failed(explain(code, output))
    rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return passed("; ".join(f"{row['what']}: {row['seconds'] * 1e3:.2f} ms, "
                            f"{row['gigabytes_per_second']:.1f} GB/s" for row in rows))


def torch_python():
    """A Python whose PyTorch sees the GPU, or None."""
    for python in nvidia_libraries.pythons():
        try:
            subprocess.run([python, "-c", "import torch; torch.zeros(1, device='cuda')"],
                           timeout=60, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           check=True)
            return python
        except (OSError, subprocess.SubprocessError):
            continue
    return None


def torch_seconds(runner, python, model, size, batch, steps, precision):
    """(median seconds, mode) of PyTorch's faster memory layout; or (None, why)."""
    best = None
    for mode in ("eager-contiguous", "eager-channels_last"):
        if precision == "tf32":
            mode += "-tf32"
        code, output = runner.run(
            ["sh", "-c", f"printf '10\\n{steps}\\n' | '{python}' "
             f"tests/benchmark/peers/model_step_pytorch.py {model} {size} {batch} 1 {mode} cuda"],
            limit=50)
        if code != 0:
            return None, explain(code, output)
        seconds = sorted(json.loads(output.strip().splitlines()[-1])["seconds"])
        median = seconds[len(seconds) // 2]
        if best is None or median < best[0]:
            best = (median, mode)
    return best


def model(job, peer, size, batch, steps, peers_python, precision="float32"):
    """Training steps; beside PyTorch's in the same precision, if that is installed."""

    def run(runner):
        code, output = runner.ours(
            "model_benchmark", f"deploy/jobs/{job}.yaml", "--set", f"precision={precision}",
            "--device", "cuda", "--batch", str(batch), "--threads", str(os.cpu_count()),
            "--warmup", "10", "--steps", str(steps), limit=60)
        if code != 0:
            return failed(explain(code, output))
        ours = json.loads(output.strip().splitlines()[-1])["median_seconds"]
        what = f"{job}, batch {batch}, {precision}, steps/s"
        python = peers_python()
        theirs, mode = ((None, "no PyTorch that sees the GPU") if python is None else
                        torch_seconds(runner, python, peer, size, batch, steps, precision))
        if theirs is None:
            return passed(f"{1 / ours:.1f} steps/s; beside it {mode}",
                          [(what, f"{1 / ours:.1f}", "–", "–")])
        return passed(f"{theirs / ours:.2f} times PyTorch, {mode}",
                      [(what, f"{1 / ours:.1f}", f"{1 / theirs:.1f}", f"{theirs / ours:.2f}")])

    return run


def all_stages():
    """[(name, seconds without which it is not begun, stage)] in their order."""
    found = []

    def peers_python():
        # Sought once, and only if a benchmark is run.
        if not found:
            found.append(torch_python())
        return found[0]

    stages = [("programs start", 5, programs_start),
              ("conformance suite on the GPU", 20, conformance)]
    for strategy in ("parameter_server", "mirrored", "multi_worker_mirrored", "central_storage"):
        stages.append((f"Fashion-MNIST, {strategy}", 15, training(strategy)))
    stages += [
        ("copies and Adam", 10, copies_and_update),
        ("step of the tutorial's CNN", 20,
         model("fashion_mnist", "tutorial", 28, 64, 200, peers_python)),
        ("step of ResNet-50", 30, model("resnet50", "resnet50", 224, 64, 20, peers_python)),
        ("step of MobileNetV2", 30, model("mobilenet_v2", "mobilenet_v2", 224, 64, 20,
                                          peers_python)),
        ("step of ResNet-50, TF32", 30,
         model("resnet50", "resnet50", 224, 64, 20, peers_python, "tf32")),
        ("compute-sanitizer", 30, sanitizer),
    ]
    return stages


def check_stages():
    """What can be done without a GPU."""
    return [("programs start", 5, programs_start),
            ("conformance suite on the fake GPU", 20, conformance_on_fake)]


def run_stage(stage, needed, runner):
    """(result, seconds)."""
    start = time.monotonic()
    if runner.budget.left() < needed:
        return skipped(f"{TIME_OVER}: {runner.budget.left():.0f} s of the budget"), 0
    try:
        result = stage(runner)
    except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
        result = failed(f"{type(error).__name__}: {error}")
    if result.state == "failed" and runner.budget.left() <= 0:
        result = skipped(f"{TIME_OVER}: cut short by the budget\n{result.detail}")
    return result, time.monotonic() - start
