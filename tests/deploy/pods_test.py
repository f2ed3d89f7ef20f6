"""Runs the chart's pods, and a job in them: pods_test.py REPOSITORY BUILD.

Each pod has a network namespace of its own, and the image's content as its root file system. They
talk over TLS, with a certificate for the names that the chart asks cert-manager for.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

import certificates
import chart
import image
import pod_network
import pods
import small_job

REPOSITORY, BUILD = map(os.path.abspath, sys.argv[1:3])
COORDINATOR, WORKER = "demo-paceline-coordinator", "demo-paceline-worker"
# Each daemon has the room of one task; and of the leader, beside the parameter server.
VALUES = {
    "ps": {"extraArgs": ["--cores", "1.5"]},
    "worker": {"extraArgs": ["--cores", "1"]},
    "tokens": {"admin": {"existingSecret": "paceline-admin"}},
    "tls": {"enabled": True, "certManager": {"enabled": True, "issuerRef": {"name": "lab"}}},
    "data": [{"name": "sets", "path": small_job.DATA, "volume": {"hostPath": {"path": small_job.DATA}}}],
}
EPOCHS = 45


def obstacle():
    known = subprocess.run([BUILD + "/bin/worker", "--help"], capture_output=True, text=True, check=True)
    if "--work " not in known.stdout:
        return "this worker is no daemon yet"
    return pod_network.obstacle()


OBSTACLE = obstacle()


@unittest.skipIf(OBSTACLE, OBSTACLE)
class PodsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.chmod(self.folder, 0o755)
        self.objects = chart.render(VALUES)
        certificate, = chart.of_kind(self.objects, "Certificate").values()
        tls = {certificate["spec"]["secretName"]: certificates.secret(certificate["spec"]["dnsNames"])}
        token = "paceline_" + "fedcba9876543210" * 4
        secrets = {"paceline-secret": {"secret": "0123456789abcdef" * 4}, "paceline-admin": {"token": token}, **tls}
        self.pods = pods.Pods(*image.content(REPOSITORY, BUILD), secrets, self.folder + "/state", "ml", self.objects)
        self.addCleanup(self.pods.remove_all)
        for name, text in {"token": token, **tls["demo-paceline-tls"]}.items():
            with open(f"{self.folder}/{name}", "w", encoding="utf-8") as file:
                file.write(text)

    def paceline(self, *arguments):
        """A verb, from the node, by the token of the admin; what it prints."""
        result = subprocess.run(
            self.pods.network.on_node(
                BUILD + "/bin/coordinator", *arguments, f"--tls-cert={self.folder}/tls.crt",
                f"--tls-key={self.folder}/tls.key", f"--tls-ca={self.folder}/ca.crt"),
            env={"PATH": os.environ["PATH"], "PACELINE_COORDINATOR": COORDINATOR + ":2222",
                 "PACELINE_TOKEN_FILE": self.folder + "/token"},
            capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr + self.logs())
        return result.stdout

    def logs(self):
        return "\n".join(f"--- {pod}\n{self.pods.log(pod)}" for pod in self.pods.running)

    def wait_until(self, condition, what, timeout_s=60):
        end = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > end:
                self.fail(f"{what} after {timeout_s} s\n{self.logs()}")
            time.sleep(0.3)

    def wait_for_epoch(self, job, epoch):
        self.wait_until(lambda: f"{epoch}/{EPOCHS}" in self.paceline("logs", job), f"no epoch {epoch}")

    def wait_for_probe(self, kind):
        """Waits until this probe of the coordinator succeeds."""
        try:
            self.pods.probe(COORDINATOR, 0, kind)
        except subprocess.CalledProcessError as error:
            self.fail(f"{kind}: {error.stderr}\n{self.logs()}")

    def start_service(self):
        self.pods.start_all()
        self.wait_for_probe("startupProbe")
        self.wait_for_probe("readinessProbe")
        self.expect_failure_of_probe_in(f"{WORKER}-0")
        daemons = [pod for pod in self.pods.running if not pod.startswith(COORDINATOR)]
        self.wait_until(lambda: all(pod in self.paceline("members") for pod in daemons), "not all daemons")

    def expect_failure_of_probe_in(self, pod):
        """The coordinator's probe fails where no coordinator is."""
        container, = self.pods.stateful_sets[COORDINATOR]["spec"]["template"]["spec"]["containers"]
        result = self.pods.execute_probe(pod, container["readinessProbe"])
        self.assertEqual((result.returncode, "127.0.0.1:2222" in result.stderr), (1, True), result.stderr)

    def submit(self):
        with open(self.folder + "/job.yaml", "w", encoding="utf-8") as file:
            file.write(small_job.text(EPOCHS))
        return self.paceline("submit", self.folder + "/job.yaml").strip()

    def result_of(self, job):
        self.paceline("download", job, "--output", self.folder + "/result")
        with open(self.folder + "/result/result.json", encoding="utf-8") as file:
            return json.load(file)

    def test_a_job_outlives_a_worker_and_the_coordinator(self):
        self.start_service()
        # What `helm test` does.
        test, = chart.of_kind(self.objects, "Pod").values()
        self.pods.start_pod("test", test["spec"])
        self.assertEqual(self.pods.running["test"].wait(timeout_s=30), 0, self.pods.log("test"))

        job = self.submit()
        self.wait_for_epoch(job, 1)
        self.pods.kill(f"{WORKER}-1")
        self.pods.start(WORKER, 1)
        self.wait_for_epoch(job, 3)
        # The new pod has another volume, so it takes the name once the old one is silent.
        self.wait_until(lambda: "its daemon was started anew" in self.paceline("describe", job),
                        "the new pod of the worker is not known")
        self.pods.kill(f"{COORDINATOR}-0")
        self.pods.start(COORDINATOR, 0)
        self.wait_for_probe("readinessProbe")
        self.assertNotIn(f"{EPOCHS}/{EPOCHS}", self.paceline("logs", job), "the job was too short")
        self.paceline("wait", job)
        self.wait_for_probe("livenessProbe")

        result = self.result_of(job)
        self.assertEqual(result["state"], "SUCCEEDED")
        self.assertEqual([epoch["examples"] for epoch in result["history"]], [small_job.EXAMPLES] * EPOCHS)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
