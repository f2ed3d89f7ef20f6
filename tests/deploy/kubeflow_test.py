"""Checks deploy/kubeflow: kubeflow_test.py REPOSITORY BUILD."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import kubernetes_validate
import yaml

REPOSITORY, BUILD = map(os.path.abspath, sys.argv[1:3])
# Schemas before 1.29 want more of a podFailurePolicy than the server does.
KUBERNETES_VERSIONS = ["1.29", "1.32", "1.37"]
INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
TASKS = {"chief": 1, "ps": 1, "worker": 2}

# What the operators' CRDs know, of what there is.
TFJOB_FIELDS = {"enableDynamicWorker", "runPolicy", "successPolicy", "tfReplicaSpecs"}
RUN_POLICY_FIELDS = {"activeDeadlineSeconds", "backoffLimit", "cleanPodPolicy", "managedBy",
                     "schedulingPolicy", "suspend", "ttlSecondsAfterFinished"}
RESTART_POLICIES = {"Always", "OnFailure", "Never", "ExitCode"}
JOBSET_FIELDS = {"coordinator", "failurePolicy", "managedBy", "network", "replicatedJobs",
                 "startupPolicy", "successPolicy", "suspend", "ttlSecondsAfterFinished"}
NETWORK_FIELDS = {"enableDNSHostnames", "publishNotReadyAddresses", "subdomain"}
REPLICATED_JOB_FIELDS = {"dependsOn", "groupName", "name", "replicas", "template"}


def load(name):
    with open(f"{REPOSITORY}/deploy/kubeflow/{name}", encoding="utf-8") as file:
        return yaml.safe_load(file)


class KubeflowTest(unittest.TestCase):
    def check_by_schema(self, kind, api_version, spec):
        thing = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "it"}, "spec": spec}
        for version in KUBERNETES_VERSIONS:
            kubernetes_validate.validate(thing, version, strict=True)

    def check_pod(self, spec):
        self.check_by_schema("Pod", "v1", spec)
        container, = spec["containers"]
        self.assertCountEqual([mount["name"] for mount in container["volumeMounts"]],
                              [volume["name"] for volume in spec["volumes"]])
        program, *arguments = container["command"]
        self.assertTrue(os.path.exists(f"{BUILD}/bin/{os.path.basename(program)}"))
        if arguments:
            self.assertEqual(arguments[:2], ["run", "/etc/paceline/job/job.yaml"])
        variables = [variable["name"] for variable in container["env"]]
        self.assertIn("PACELINE_JOB_SECRET_FILE", variables)

    def check_tf_config(self, text, kind, index):
        """`coordinator validate` says which task it is."""
        with tempfile.TemporaryDirectory() as folder:
            secret = folder + "/secret"
            with open(secret, "w", encoding="utf-8") as file:
                file.write("0123456789abcdef" * 4)
            result = subprocess.run(
                [BUILD + "/bin/coordinator", "validate", REPOSITORY + "/deploy/jobs/fashion_mnist.yaml"],
                env={"TF_CONFIG": text, "PACELINE_JOB_SECRET_FILE": secret}, capture_output=True,
                text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"{kind}-{index}", result.stdout)

    def test_tfjob(self):
        job = load("tfjob.yaml")
        self.assertEqual((job["apiVersion"], job["kind"]), ("kubeflow.org/v1", "TFJob"))
        spec = job["spec"]
        self.assertLessEqual(set(spec), TFJOB_FIELDS)
        self.assertLessEqual(set(spec["runPolicy"]), RUN_POLICY_FIELDS)
        cluster = {}
        for kind, replica in spec["tfReplicaSpecs"].items():
            self.assertEqual(set(replica), {"replicas", "restartPolicy", "template"})
            self.assertIn(replica["restartPolicy"], RESTART_POLICIES)
            pod = replica["template"]["spec"]
            self.check_pod(pod)
            self.assertEqual(pod["containers"][0]["name"], "tensorflow")
            port, = pod["containers"][0]["ports"]
            self.assertEqual(port["name"], "tfjob-port")
            # As the operator calls its pods' services.
            cluster[kind.lower()] = [
                f"{job['metadata']['name']}-{kind.lower()}-{index}.ml.svc:{port['containerPort']}"
                for index in range(replica["replicas"])]
        self.assertEqual({kind: len(addresses) for kind, addresses in cluster.items()}, TASKS)
        for kind, count in TASKS.items():
            for index in range(count):
                self.check_tf_config(
                    json.dumps({"cluster": cluster, "task": {"type": kind, "index": index},
                                "environment": "cloud"}), kind, index)

    def test_jobset(self):
        jobset = load("jobset.yaml")
        self.assertEqual((jobset["apiVersion"], jobset["kind"]), ("jobset.x-k8s.io/v1alpha2", "JobSet"))
        spec, name = jobset["spec"], jobset["metadata"]["name"]
        self.assertLessEqual(set(spec), JOBSET_FIELDS)
        self.assertLessEqual(set(spec["network"]), NETWORK_FIELDS)
        jobs = {job["name"]: job for job in spec["replicatedJobs"]}
        self.assertLessEqual(set(spec["successPolicy"]["targetReplicatedJobs"]), set(jobs))
        self.assertEqual({kind: job["template"]["spec"]["completions"] for kind, job in jobs.items()}, TASKS)
        for kind, job in jobs.items():
            self.assertLessEqual(set(job), REPLICATED_JOB_FIELDS)
            self.assertEqual(job["replicas"], 1)
            self.check_by_schema("Job", "batch/v1", job["template"]["spec"])
            pod = job["template"]["spec"]["template"]["spec"]
            self.check_pod(pod)
            variables = {variable["name"]: variable for variable in pod["containers"][0]["env"]}
            self.assertEqual(variables["INDEX"]["valueFrom"], {"fieldRef": {"fieldPath": INDEX}})
            # Kubernetes puts in only what stands before.
            self.assertLess(list(variables).index("INDEX"), list(variables).index("TF_CONFIG"))
            for index in range(TASKS[kind]):
                text = variables["TF_CONFIG"]["value"].replace("$(INDEX)", str(index))
                addresses = json.loads(text)["cluster"][kind]
                # As JobSet calls its pods: job 0 of the replicated job, and the pod's index.
                self.assertEqual(addresses[index], f"{name}-{kind}-0-{index}.{name}:2222")
                self.check_tf_config(text, kind, index)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
