"""A process that runs training steps when it is asked to, and else stands still.

It reads numbers of steps from stdin, a line each, and answers each with a line of
JSON that has the mean "seconds" of a step. `model_benchmark` is one, and so are
peers/model_step_*.py (see peers/step_server.py). So each side of a comparison is
built once, and waits while the other is timed.
"""

import json
import os
import select
import subprocess
import tempfile
import time

END = 9


class PeerError(RuntimeError):
    """It ended, or did not answer in time; says why."""


class NoAnswer(PeerError):
    """It may be at work still."""


class StepPeer:
    """A context: ends the process and its children.

    They stay in this session: Linux's autogroup shares the cores among sessions first.
    """

    def __init__(self, command, environment=None, folder=None):
        self._errors = tempfile.TemporaryFile(mode="w+", errors="replace")
        self._unread = b""
        self._process = subprocess.Popen(command, cwd=folder, env=environment, bufsize=0,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=self._errors, process_group=0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def is_running(self):
        return self._process.poll() is None

    def processor_seconds(self):
        """That all its threads have had so far."""
        with open(f"/proc/{self._process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def run(self, steps, timeout):
        """Mean seconds of so many steps; `timeout` is that of the answer, in seconds."""
        end = time.monotonic() + timeout
        try:
            self._process.stdin.write(f"{steps}\n".encode())
        except OSError:
            raise PeerError(self._why_it_ended()) from None
        while True:
            line = self._read_line(end)
            if line is None:
                raise NoAnswer(f"no answer in {max(0, timeout):.0f} s")
            # Not all that a library prints is an answer.
            if line.startswith(b"{"):
                return json.loads(line)["seconds"]

    def kill(self):
        """Ends it; a `run` of another thread fails. `end` is still to be called."""
        try:
            os.killpg(self._process.pid, END)
        except ProcessLookupError:
            pass

    def end(self):
        self.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            stream.close()

    def _read_line(self, end):
        """None: the time is over."""
        while b"\n" not in self._unread:
            left = max(0, end - time.monotonic())
            if not select.select([self._process.stdout], [], [], left)[0]:
                return None
            more = self._process.stdout.read(4096)
            if not more:
                raise PeerError(self._why_it_ended())
            self._unread += more
        line, self._unread = self._unread.split(b"\n", 1)
        return line

    def _why_it_ended(self, lines=8):
        try:
            code = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            code = "none"
        self._errors.seek(0)
        last = self._errors.read().strip().splitlines()[-lines:]
        return "\n".join([f"exit code {code}", *last])


def pairs_of(peers, steps, count, timeout, at_least=None):
    """Interleaved seconds of `peers`, {name: StepPeer}: {name: [seconds of a step]}.

    Each runs `steps` of its own, {name: steps}, after some that are not timed.
    `timeout` is that of all, in seconds: then fewer than `count` will do, if they
    are `at_least` so many.
    """
    end = time.monotonic() + timeout
    seconds = {name: [] for name in peers}
    for done in range(count):
        for name, peer in peers.items():
            try:
                peer.run(max(1, steps[name] // 10), end - time.monotonic())
                seconds[name].append(peer.run(steps[name], end - time.monotonic()))
            except PeerError as error:
                if isinstance(error, NoAnswer) and done >= (at_least or count):
                    return {name: values[:done] for name, values in seconds.items()}
                raise type(error)(f"{name}: {error}") from None
    return seconds
