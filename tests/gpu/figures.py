"""The stages that measure: ours in turn with what stands beside it."""

import collections
import json
import os
import statistics

import step_peer
from results import Figure, Goal, failed, passed, skipped
from runner import Stage, explain

PAIRS = 7
# If the time is over before.
MIN_PAIRS = 5
# The stage that waits for what PyTorch compiles ahead.
COMPILES = "PyTorch compiles"
# Of a peer's first steps, which may compile; what is left of a stage is for the pairs.
PAIRS_SECONDS = 25

# Training steps of a job on both sides. Peers: modes of model_step_pytorch.py.
Work = collections.namedtuple(
    "Work", "name job model size batch precision settings our_steps steps modes")


def tutorial(is_gpu):
    return Work(name="tutorial CNN, batch 64", job="fashion_mnist", model="tutorial", size=28,
                batch=64, precision="float32", settings=("autotune=true", "steps_per_execution=32"),
                our_steps=3200 if is_gpu else 32, steps=1000 if is_gpu else 3,
                modes=("eager-contiguous-float32", "graphs-contiguous-float32"))


def image_model(name, job, batch, precision, is_gpu):
    size, steps = (224, 1920 // batch) if is_gpu else (32, 2)
    modes = tuple(f"{runner}-channels_last-{precision}" for runner in ("eager", "graphs"))
    return Work(name=f"{name}, batch {batch}, {precision}", job=job, model=job, size=size,
                batch=batch, precision=precision,
                settings=("autotune=true", f"model.layers[0].Input.shape=[{size}, {size}, 3]"),
                our_steps=steps, steps=steps, modes=modes)


def start_ours(work, runner):
    settings = [f"precision={work.precision}", *work.settings]
    return step_peer.StepPeer(
        [runner.programs.path("model_benchmark"), f"deploy/jobs/{work.job}.yaml", "--device",
         runner.device, "--batch", str(work.batch), "--threads", str(os.cpu_count()),
         *(word for setting in settings for word in ("--set", setting))],
        environment=runner.programs.environment(), folder=runner.programs.root)


def figure_of(ours, theirs, theirs_are, note=""):
    """Of seconds of a step, in pairs."""
    low, median, high = statistics.quantiles([t / o for o, t in zip(ours, theirs)], n=4,
                                             method="inclusive")
    return Figure(low, median, high, f"{1 / statistics.median(ours):.4g} steps/s",
                  f"{1 / statistics.median(theirs):.4g} steps/s ({theirs_are})", note)


def warm_up(work, modes, peers, runner):
    """Peers that run are added to `peers`; the others are returned, {mode: why not}.

    One after the other, because all measure which of their algorithms is fastest.
    """
    unfit = {}
    for mode, peer in modes.items():
        try:
            peer.run(work.steps, max(1, runner.budget.left() - PAIRS_SECONDS))
            peers[mode] = peer
        except step_peer.PeerError as error:
            peer.end()
            unfit[mode] = str(error)
    return unfit


class NotMeasured(Exception):
    """Says why, through no fault of ours."""


def seconds_of(work, modes, pytorch, runner):
    """({"ours" and each mode that runs: seconds of a step}, {mode: why it does not})."""
    others = {}
    with start_ours(work, runner) as ours:
        try:
            if pytorch.found()[0] is not None:
                others = {mode: pytorch.start(work, mode) for mode in modes}
            ours.run(work.our_steps, runner.budget.left())
            peers = {"ours": ours}
            unfit = warm_up(work, others, peers, runner)
            return take_pairs(work, peers, runner), unfit
        finally:
            for peer in others.values():
                peer.end()


def take_pairs(work, peers, runner):
    steps = {name: work.steps for name in peers} | {"ours": work.our_steps}
    try:
        return step_peer.pairs_of(peers, steps, PAIRS, runner.budget.left(), MIN_PAIRS)
    except step_peer.PeerError as error:
        if peers["ours"].is_running():
            raise NotMeasured(f"pairs were cut short: {error}") from None
        raise


def describe(seconds, unfit, pytorch):
    """For the report: what was measured, and why other things were not."""
    rates = [f"{name} {1 / statistics.median(values):.4g} steps/s"
             for name, values in seconds.items()]
    python, version = pytorch.found()
    with_what = version if python is None else f"PyTorch {version}"
    more = [f"{mode} did not run: {why}" for mode, why in unfit.items()]
    return "\n".join([f"{', '.join(rates)}; {with_what}", *more])


def why_not(unfit, pytorch):
    """Why there is nothing beside ours."""
    python, why = pytorch.found()
    return why if python is None else f"{', '.join(unfit)} did not run, see below"


def beside_each(work, goals, pytorch):
    """Measures a figure for each mode, whose goals these are."""

    def run(runner):
        try:
            seconds, unfit = seconds_of(work, work.modes, pytorch, runner)
        except NotMeasured as why:
            return skipped(str(why))
        figures, unmeasured = {}, {}
        for goal, mode in zip(goals, work.modes):
            if mode in seconds:
                figures[goal] = figure_of(seconds["ours"], seconds[mode], mode)
            else:
                unmeasured[goal] = why_not(unfit, pytorch)
        return passed(describe(seconds, unfit, pytorch), figures, unmeasured)

    return run


def beside_best(work, goal, pytorch, best_modes):
    """The same with one figure, beside the fastest mode.

    `best_modes`, {(job, precision): mode}, remembers it: with another batch size the
    GPU's memory is for it and us.
    """

    def run(runner):
        known = best_modes.get((work.job, work.precision))
        try:
            seconds, unfit = seconds_of(work, (known,) if known else work.modes, pytorch, runner)
        except NotMeasured as why:
            return skipped(str(why))
        detail = describe(seconds, unfit, pytorch)
        ours = seconds.pop("ours")
        if not seconds:
            return passed(detail, unmeasured={goal: why_not(unfit, pytorch)})
        best = min(seconds, key=lambda mode: statistics.median(seconds[mode]))
        best_modes[(work.job, work.precision)] = best
        note = f"but {', '.join(unfit)} did not run" if unfit else ""
        return passed(detail, {goal: figure_of(ours, seconds[best], best, note)})

    return run


def compiled_of(work):
    """What PyTorch can compile ahead."""
    return tuple((work, mode) for mode in work.modes if not mode.startswith("eager"))


def tutorial_stage(pytorch, is_gpu):
    work = tutorial(is_gpu)
    goals = (Goal(f"{work.name}, steps/s", "PyTorch, eager", 5),
             Goal(f"{work.name}, steps/s", "PyTorch, compiled, CUDA graphs", 1.2))
    return Stage(f"steps of {work.name}", 25, 90, beside_each(work, goals, pytorch), goals,
                 compiled_of(work))


def image_stage(work, pytorch, best_modes, ahead=True):
    goal = Goal(f"{work.name}, steps/s", "PyTorch, the best of eager and compiled", 1)
    return Stage(f"steps of {work.name}", 45, 150, beside_best(work, goal, pytorch, best_modes),
                 (goal,), compiled_of(work) if ahead else ())


LINK = Goal("gradients of ResNet-50 to the host, variables back", "a plain copy, pinned", 0.8)
MEMORY = Goal("Adam over 100 million parameters", "a plain copy in the GPU's memory", 0.85)


def figure_of_rates(row):
    """Of a line of gpu_benchmark."""

    def rate(name):
        return f"{row[name]['median'] / 1e9:.4g} GB/s"

    low, high = row["ratio"]["quartiles"]
    return Figure(low, row["ratio"]["median"], high, rate("bytes_per_second"),
                  rate("plain_bytes_per_second"))


def link_and_memory(runner):
    """Buckets of gradients, and the update, beside plain copies."""
    code, output = runner.ours("gpu_benchmark", "deploy/jobs/resnet50.yaml", "--pairs", str(PAIRS))
    if code != 0:
        return failed(explain(code, output))
    rows = {row["what"]: row
            for row in map(json.loads, filter(lambda line: line.startswith("{"),
                                              output.splitlines()))}
    figures = {LINK: figure_of_rates(rows["gradients"]), MEMORY: figure_of_rates(rows["adam"])}
    return passed("; ".join(f"{goal.what}: {figure.ours}" for goal, figure in figures.items()),
                  figures)


def compiled_stage(pytorch):
    """Waits until nothing is compiled beside what follows."""

    def run(runner):
        python, version = pytorch.found()
        if python is None:
            return skipped(version)
        count, of_all = pytorch.compiled(runner.budget.left() - 1)
        return passed(f"{count} of {of_all} ahead, beside the stages above; {version}, {python}")

    return Stage(COMPILES, 5, 90, run)


def small_stages(pytorch):
    """What can be tried on the CPU: that both sides run, and how they are compared."""
    small = image_model("MobileNetV2", "mobilenet_v2", 4, "float32", is_gpu=False)
    return [compiled_stage(pytorch), tutorial_stage(pytorch, is_gpu=False),
            image_stage(small, pytorch, {})]


def figure_stages(pytorch):
    """Those with 64 images, the most telling for their time first, and those with 256."""
    best_modes = {}
    works = {batch: [image_model(name, job, batch, precision, is_gpu=True)
                     for name, job in (("ResNet-50", "resnet50"), ("MobileNetV2", "mobilenet_v2"))
                     for precision in ("tf32", "mixed_bfloat16")] for batch in (64, 256)}
    return ([compiled_stage(pytorch), tutorial_stage(pytorch, is_gpu=True),
             Stage("link and memory", 10, 60, link_and_memory, (LINK, MEMORY)),
             *(image_stage(work, pytorch, best_modes) for work in works[64])],
            [image_stage(work, pytorch, best_modes, ahead=False) for work in works[256]])
