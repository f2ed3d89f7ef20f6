"""The tutorials' jobs on a GPU: these fail, or pass."""

import glob

import stages
from results import failed, passed
from runner import Stage, explain

# Of the MNIST job after two epochs of Fashion-MNIST, and of the custom loop after its ten: what
# a device that works does not miss. The loop's goal is 0.909, from which runs differ by 0.005.
MIN_MNIST_ACCURACY = 0.85
MIN_LOOP_ACCURACY = 0.9
TRACED_STEPS = [20, 39]


def words_of(overrides, runner):
    everything = [f"device={runner.device}", *overrides, *stages.data_overrides(runner.programs.root)]
    return [word for override in everything for word in ("--set", override)]


def steps_without_trace(pattern):
    """The names of those that no such file has."""
    traces = b""
    for path in glob.glob(pattern):
        with open(path, "rb") as file:
            traces += file.read()
    names = [f"step {step}" for step in range(TRACED_STEPS[0], TRACED_STEPS[1] + 1)]
    return [name for name in names if name.encode() not in traces]


def mnist(runner):
    """MNIST's job with all its callbacks and a trace; its checkpoint, evaluated again."""
    job, output_dir = "deploy/jobs/mnist_callbacks.yaml", f"{runner.folder}/mnist"
    overrides = [stages.devices_of_one_worker(runner), "epochs=2",
                 f"callbacks[0].TensorBoard.profile_batch={TRACED_STEPS}"]
    code, output = runner.ours("coordinator", "run", job, "--output", output_dir,
                               *words_of(overrides, runner))
    if code != 0:
        return failed(explain(code, output))
    accuracy = stages.accuracy_of(output_dir)
    if accuracy < MIN_MNIST_ACCURACY:
        return failed(f"accuracy {accuracy:.4f}; expected at least {MIN_MNIST_ACCURACY}")
    missing = steps_without_trace(f"{output_dir}/logs/plugins/profile/*/*.xplane.pb")
    if missing:
        return failed(f"TensorBoard's trace lacks {', '.join(missing)}")
    code, output = runner.ours("coordinator", "evaluate", f"{output_dir}/checkpoint", "--job", job,
                               "--output", f"{output_dir}-evaluated",
                               *words_of(["devices=1"], runner))
    if code != 0:
        return failed(explain(code, output))
    again = stages.accuracy_of(f"{output_dir}-evaluated")
    # Sums of another order may tip two of the 10,000 examples.
    if abs(again - accuracy) > 2.5e-4:
        return failed(f"accuracy {accuracy:.4f}, but {again:.4f} of the checkpoint")
    return passed(f"accuracy {accuracy:.4f}, {again:.4f} of the checkpoint; a trace of "
                  f"{TRACED_STEPS[1] - TRACED_STEPS[0] + 1} steps")


def custom_loop(strategy):
    """The custom loop's job: a replica on each of at most two GPUs, two workers, or two servers
    and four workers."""
    cluster = {
        "parameter_server": ["cluster={ps: 2, worker: 4}", "devices=1"],
        "multi_worker_mirrored": ["cluster={worker: 2}", "devices=1"],
    }

    def run(runner):
        output_dir = f"{runner.folder}/custom-loop-{strategy}"
        overrides = [f"strategy={strategy}", *cluster.get(strategy, [stages.devices_of_one_worker(runner)])]
        code, output = runner.ours("coordinator", "run",
                                   "deploy/jobs/fashion_mnist_custom_loop.yaml", "--output",
                                   output_dir, *words_of(overrides, runner))
        if code != 0:
            return failed(explain(code, output))
        accuracy = stages.accuracy_of(output_dir)
        if accuracy < MIN_LOOP_ACCURACY:
            return failed(f"accuracy {accuracy:.4f}; expected at least {MIN_LOOP_ACCURACY}")
        return passed(f"accuracy {accuracy:.4f}")

    return run


def mnist_stage():
    return Stage("tutorial of MNIST with its callbacks", 20, 90, mnist)


def tutorial_stages():
    return [mnist_stage(),
            *(Stage(f"custom loop, {strategy}", 30, 90, custom_loop(strategy))
              for strategy in ("parameter_server", "mirrored", "multi_worker_mirrored",
                               "central_storage"))]
