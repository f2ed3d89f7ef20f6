"""Runs the shell blocks of README's section "A service" as they stand.

readme_service_test.py BIN SOURCE

They run in a network of their own, where their ports are free and HOST is this machine, and in a folder that has
the programs and a job of the name that they submit: a small one, since the tutorial's takes minutes. Lines of the
block for several machines run beside each other, as on several machines. tests/deploy runs what the section says
of Kubernetes, systemd and packages.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BIN, SOURCE = map(os.path.abspath, sys.argv[1:3])
INSIDE = "--inside" in sys.argv
SKIPPED = 77
LIMIT = 60

SMALL_JOB = """
strategy: parameter_server
cluster: {ps: 1, worker: 2}
model: {layers: [Input: {shape: [28, 28, 1]}, Flatten: {}, Dense: {units: 10}]}
loss: {SparseCategoricalCrossentropy: {from_logits: true}}
optimizer: SGD
data:
  train:
    idx:
      features: /usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz
      labels: /usr/share/datasets/fashion-mnist/t10k-labels-idx1-ubyte.gz
batch_size_per_replica: 100
epochs: 1
"""


def blocks():
    """The section's blocks: (language, text)."""
    with open(SOURCE + "/README.md", encoding="utf-8") as file:
        section = file.read().split("\n## A service\n")[1].split("\n## ")[0]
    return re.findall(r"^```(\w+)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


class ReadmeServiceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.bin = self.folder + "/build/release/bin"
        os.makedirs(self.bin)
        for name in os.listdir(BIN):
            os.symlink(f"{BIN}/{name}", f"{self.bin}/{name}")
        shutil.copytree(SOURCE + "/deploy/jobs", self.folder + "/deploy/jobs")
        with open(self.folder + "/deploy/jobs/fashion_mnist.yaml", "w", encoding="utf-8") as file:
            file.write(SMALL_JOB)
        self.environment = {"PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": self.folder}

    def start(self, script, folder):
        """Starts a script; it ends with the test, and what it has started too."""
        process = subprocess.Popen(["bash", "-euc", script], cwd=folder, env=self.environment,
                                   start_new_session=True)

        def stop():
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            end = time.monotonic() + 30
            while time.monotonic() < end:
                try:
                    os.killpg(process.pid, 0)
                except ProcessLookupError:
                    return
                time.sleep(0.05)
            os.killpg(process.pid, signal.SIGKILL)

        self.addCleanup(stop)
        return process

    def await_output(self, command, text):
        """Gives a command until it prints the text."""
        end = time.monotonic() + LIMIT
        while True:
            result = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment,
                                    capture_output=True, text=True, check=False)
            if result.returncode == 0 and text in result.stdout:
                return
            self.assertLess(time.monotonic(), end, f"{command}: {result.stdout}{result.stderr}")
            time.sleep(0.1)

    def test_on_one_machine(self):
        shells = [text for language, text in blocks() if language == "sh"]
        service, job = shells[0], shells[1]
        # The second is typed once the first has started its programs.
        wait = ("until [ $(./coordinator members --coordinator 127.0.0.1:2222 -o name 2>/dev/null | wc -l) = 2 ];"
                " do sleep 0.1; done\n")
        # A shell that waits keeps its process group.
        process = self.start(f"{service}\n{wait}\n{job}\ntouch done\nwait", self.folder)
        end = time.monotonic() + LIMIT
        while not os.path.exists(self.bin + "/done"):
            self.assertIsNone(process.poll(), "a command failed")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        found = [name for name in os.listdir(self.bin) if os.path.isdir(f"{self.bin}/{name}")]
        results = [name for name in found if os.path.exists(f"{self.bin}/{name}/result.json")]
        self.assertTrue(results, found)

    def test_on_several_machines(self):
        shells = [text for language, text in blocks() if language == "sh"]
        lines = shells[2].splitlines()
        subprocess.run(["bash", "-euc", lines[0]], cwd=self.folder, env=self.environment, check=True)
        for line in lines[1:-1]:
            self.start(line, self.folder)
        self.assertIn(" list ", lines[-1])
        self.await_output(lines[-1], "ID ")
        self.await_output(lines[-1].replace(" list ", " members "), "worker")
        # The file of contexts gives what was typed.
        config, = [text for language, text in blocks() if language == "yaml"]
        os.makedirs(self.folder + "/.config/paceline")
        with open(self.folder + "/.config/paceline/config.yaml", "w", encoding="utf-8") as file:
            file.write(config)
        shutil.copy(self.folder + "/service.secret", self.folder + "/.config/paceline/")
        self.await_output("coordinator members", "worker")


def enter():
    """Starts this again in a network of its own where HOST is this machine."""
    with tempfile.TemporaryDirectory() as folder:
        hosts = folder + "/hosts"
        with open(hosts, "w", encoding="utf-8") as file:
            file.write("127.0.0.1 localhost HOST\n")
        setup = f"ip link set lo up && mount --bind {hosts} /etc/hosts"
        enter_network = ["unshare", "--map-root-user", "--net", "--mount", "sh", "-c"]
        tried = subprocess.run([*enter_network, setup], capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            print("skipped: no network of its own can be made here: " + tried.stderr)
            return SKIPPED
        return subprocess.run([*enter_network, setup + ' && exec "$@"', "sh", sys.executable, *sys.argv, "--inside"],
                              check=False).returncode


if __name__ == "__main__":
    if not INSIDE:
        sys.exit(enter())
    unittest.main(argv=sys.argv[:1])
