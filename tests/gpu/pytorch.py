"""PyTorch beside us: where it is, and what of it runs."""

import concurrent.futures
import os
import re
import subprocess
import threading

import machine
import nvidia_libraries
import step_peer

SCRIPT = "tests/benchmark/peers/model_step_pytorch.py"
# What a process that compiles takes, of the machine and of the GPU.
CORES_TO_COMPILE = 4
GIB_TO_COMPILE = 16
MAX_SECONDS_TO_COMPILE = 300
# Of a Python that imports it for the first time.
MAX_SECONDS_TO_FIND = 120


def find(device):
    """(Python, version of its PyTorch that sees the device); or (None, why)."""
    code = f"import torch; torch.zeros(1, device='{device}'); print(torch.__version__)"
    for python in nvidia_libraries.pythons():
        try:
            answer = subprocess.run([python, "-c", code], timeout=MAX_SECONDS_TO_FIND,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                    check=True).stdout
            return python, answer.split()[-1]
        except (OSError, subprocess.SubprocessError):
            continue
    return None, f"no Python has a PyTorch that computes on {device}"


def compilers_at_once(device):
    """How many processes may compile beside other work."""
    count = os.cpu_count() // CORES_TO_COMPILE
    if device == "cuda":
        mib = re.search(r"(\d+) MiB", machine.nvidia_smi()[0])
        count = min(count, int(mib.group(1)) // 1024 // GIB_TO_COMPILE if mib else 1)
    return max(1, count)


class PyTorch:
    """A context. Compiles ahead, beside other work: stages with figures find it done.

    Only code is kept: what compiled code tunes by measuring is measured again
    where it is used, alone.
    """

    def __init__(self, runner):
        self._runner = runner
        self._threads = concurrent.futures.ThreadPoolExecutor(compilers_at_once(runner.device))
        self._found = None
        self._ahead = []
        # Of these two.
        self._lock = threading.Lock()
        self._compiling = set()
        self._is_over = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.compiled(seconds=0)
        self._threads.shutdown()

    def found(self):
        """As `find`; sought once."""
        if self._found is None:
            self._found = self._threads.submit(find, self._runner.device)
        return self._found.result()

    def start(self, work, mode):
        """A StepPeer in a mode of SCRIPT."""
        return step_peer.StepPeer(
            [self.found()[0], SCRIPT, work.model, str(work.size), str(work.batch),
             str(os.cpu_count()), mode, self._runner.device],
            # Few threads: other work is under way as it compiles.
            environment=dict(os.environ, TORCHINDUCTOR_COMPILE_THREADS="2",
                             TORCHINDUCTOR_CACHE_DIR=f"{self._runner.folder}/inductor"),
            folder=self._runner.programs.root)

    def compile_ahead(self, works_and_modes):
        """Begins with all of these."""
        if works_and_modes:
            # Before the threads that wait for it.
            self._found = self._threads.submit(find, self._runner.device)
        self._ahead = [self._threads.submit(self._compile, *one) for one in works_and_modes]

    def compiled(self, seconds):
        """(count, count of all): waits so long, then none goes on."""
        concurrent.futures.wait(self._ahead, timeout=seconds)
        with self._lock:
            self._is_over = True
            for peer in self._compiling:
                peer.kill()
        for future in self._ahead:
            future.cancel()
        ended = [future for future in self._ahead if not future.cancelled()]
        return sum(future.result() for future in ended), len(self._ahead)

    def _compile(self, work, mode):
        """Whether it could; a stage that needs it finds out why not."""
        if self.found()[0] is None:
            return False
        try:
            with self.start(work, mode) as peer:
                return self._compile_by(peer)
        except (step_peer.PeerError, OSError, ValueError, KeyError):
            return False

    def _compile_by(self, peer):
        try:
            if self._begin(peer):
                peer.run(1, MAX_SECONDS_TO_COMPILE)
                return True
            return False
        finally:
            self._end(peer)

    def _begin(self, peer):
        """Whether it may; then it is killed if it is not done in time."""
        with self._lock:
            if not self._is_over:
                self._compiling.add(peer)
            return not self._is_over

    def _end(self, peer):
        with self._lock:
            self._compiling.discard(peer)
