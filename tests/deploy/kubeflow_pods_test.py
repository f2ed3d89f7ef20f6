"""Runs the pods of deploy/kubeflow, with a smaller job: kubeflow_pods_test.py REPOSITORY BUILD.

Kubeflow's and JobSet's parts are done here: names, TF_CONFIG and indices.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import yaml

import image
import pod_network
import pods
import small_job

REPOSITORY, BUILD = map(os.path.abspath, sys.argv[1:3])
NAME, NAMESPACE = "fashion-mnist", "ml"
OBSTACLE = pod_network.obstacle()


def load(name):
    with open(f"{REPOSITORY}/deploy/kubeflow/{name}", encoding="utf-8") as file:
        return yaml.safe_load(file)


@unittest.skipIf(OBSTACLE, OBSTACLE)
class KubeflowPodsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        secrets = {NAME: {"secret": "0123456789abcdef" * 4, "job.yaml": small_job.text(epochs=2)}}
        self.pods = pods.Pods(*image.content(REPOSITORY, BUILD), secrets, folder.name + "/state", NAMESPACE)
        self.addCleanup(self.pods.remove_all)
        self.output = self.pods.make_folder("output", 10001)
        self.pods.claims = {NAME + "-data": small_job.DATA, NAME + "-output": self.output}

    def check_job(self, specs):
        """Runs to its end a job whose pods were started: {name: spec}."""
        for pod, spec in specs.items():
            if "livenessProbe" in spec["containers"][0]:
                self.pods.probe_pod(pod, spec, "livenessProbe")
        for pod in specs:
            try:
                code = self.pods.running[pod].wait(timeout_s=120)
            except subprocess.TimeoutExpired:
                code = "no end"
            self.assertEqual(code, 0, f"{pod}: {self.pods.log(pod)}")
        with open(self.output + "/fashion-mnist/result.json", encoding="utf-8") as file:
            result = json.load(file)
        self.assertEqual((result["state"], len(result["history"])), ("SUCCEEDED", 2))

    def test_tfjob(self):
        replicas = load("tfjob.yaml")["spec"]["tfReplicaSpecs"]
        cluster = {kind.lower(): [f"{NAME}-{kind.lower()}-{index}.{NAMESPACE}.svc:2222"
                                  for index in range(replica["replicas"])]
                   for kind, replica in replicas.items()}
        specs = {}
        for kind, replica in replicas.items():
            for index in range(replica["replicas"]):
                pod, spec = f"{NAME}-{kind.lower()}-{index}", replica["template"]["spec"]
                specs[pod] = json.loads(json.dumps(spec))
                specs[pod]["containers"][0]["env"].append({"name": "TF_CONFIG", "value": json.dumps(
                    {"cluster": cluster, "task": {"type": kind.lower(), "index": index},
                     "environment": "cloud"})})
                self.pods.start_pod(pod, specs[pod], names=self.pods.in_domain(pod))
        self.check_job(specs)

    def test_jobset(self):
        specs = {}
        for job in load("jobset.yaml")["spec"]["replicatedJobs"]:
            spec = job["template"]["spec"]
            for index in range(spec["completions"]):
                pod = f"{NAME}-{job['name']}-0-{index}"
                specs[pod] = spec["template"]["spec"]
                self.pods.start_pod(
                    pod, specs[pod], names=self.pods.in_domain(f"{pod}.{NAME}"),
                    fields={"metadata.annotations['batch.kubernetes.io/job-completion-index']": str(index)})
        self.check_job(specs)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
