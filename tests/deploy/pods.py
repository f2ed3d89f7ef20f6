"""Runs the pods of manifests, as far as a kubelet and a StatefulSet's controller do it.

Of a container it takes command, environment, user, mounts and probes from the manifest, and the
rest from the image; of a pod its names. It does not take limits, NetworkPolicies and the
scheduler's part.
"""

import os
import re
import shutil
import subprocess
import sys
import time

import chart
import container
import pod_network

HEALTH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "health.py")
PROBE_TIMEOUT_S = 30


class Pods:
    """`secrets` are of Secrets and ConfigMaps: {name: {key: text}}. `folder` keeps volumes and logs."""

    def __init__(self, image, configuration, secrets, folder, namespace, objects=()):
        self.stateful_sets = chart.of_kind(objects, "StatefulSet")
        self.services = chart.of_kind(objects, "Service")
        self.image, self.configuration = image, configuration
        self.secrets, self.folder, self.namespace = secrets, folder, namespace
        # {name of a PersistentVolumeClaim: the folder that it is}
        self.claims = {}
        self.running = {}
        os.makedirs(folder + "/logs")
        self.network = pod_network.PodNetwork(folder + "/hosts")

    def remove_all(self):
        for name in list(self.running):
            self.kill(name)
        self.network.remove_all()

    def start_all(self):
        for name, thing in self.stateful_sets.items():
            for ordinal in range(thing["spec"]["replicas"]):
                self.start(name, ordinal)

    def start(self, name, ordinal):
        """Starts pod `ordinal` of a StatefulSet; once more with its claims, if it was killed."""
        spec = self.stateful_sets[name]["spec"]
        pod, service = f"{name}-{ordinal}", self.services[spec["serviceName"]]
        claims = [claim["metadata"]["name"] for claim in spec.get("volumeClaimTemplates", [])]
        self.start_pod(pod, spec["template"]["spec"], claims, self.in_domain(f"{pod}.{spec['serviceName']}"))
        if service["spec"].get("clusterIP") != "None":
            self.network.move_service(self.in_domain(spec["serviceName"]), pod)

    def in_domain(self, name):
        """What a name of the namespace is called."""
        return [name, f"{name}.{self.namespace}", f"{name}.{self.namespace}.svc",
                f"{name}.{self.namespace}.svc.cluster.local"]

    def start_pod(self, pod, spec, claims=(), names=(), fields=()):
        """Starts a pod that is called `names`. `fields`: those of its metadata that it asks for."""
        self.network.add(pod, names)
        spec_container, = spec["containers"]
        security = spec["securityContext"]
        fields = {"metadata.name": pod, **dict(fields)}
        environment = dict(self.configuration["env"])

        def expand(text):
            return re.sub(r"\$\((\w+)\)", lambda match: environment[match[1]], text)

        for variable in spec_container.get("env", []):
            environment[variable["name"]] = (
                expand(variable["value"]) if "value" in variable
                else fields[variable["valueFrom"]["fieldRef"]["fieldPath"]])
        command = [expand(word) for word in spec_container["command"]]
        volumes = {volume["name"]: volume for volume in spec["volumes"]}
        mounts = {"/etc/hosts": (self.network.hosts_path, False)}
        for mount in spec_container["volumeMounts"]:
            if mount["name"] in claims:
                source = self.make_folder(f"claims/{mount['name']}-{pod}", security["fsGroup"])
            else:
                source = self.volume(pod, volumes[mount["name"]], security["fsGroup"])
            mounts[mount["mountPath"]] = (source, not mount.get("readOnly", False))
        configuration = {"user": security["runAsUser"], "group": security["runAsGroup"],
                         "folder": self.configuration["folder"], "env": environment}
        with open(f"{self.folder}/logs/{pod}", "a", encoding="utf-8") as log:
            self.running[pod] = container.Container(
                self.image, command, configuration, mounts, self.network.namespace(pod), stdout=log,
                stderr=subprocess.STDOUT)

    def volume(self, pod, volume, group):
        """The folder that is a volume of a pod."""
        if "hostPath" in volume:
            return volume["hostPath"]["path"]
        if "persistentVolumeClaim" in volume:
            return self.claims[volume["persistentVolumeClaim"]["claimName"]]
        folder = self.make_folder(f"pods/{pod}/{volume['name']}", group)
        if "secret" in volume:
            self.write_files(folder, volume["secret"]["secretName"], volume["secret"], group)
        elif "configMap" in volume:
            self.write_files(folder, volume["configMap"]["name"], volume["configMap"], group)
        else:
            assert "emptyDir" in volume, volume
        return folder

    def write_files(self, folder, name, source, group):
        """A Secret's or a ConfigMap's keys, or those that `source` names, as files."""
        keys = self.secrets[name]
        for item in source.get("items") or [{"key": key, "path": key} for key in keys]:
            path = f"{folder}/{item['path']}"
            with open(path, "w", encoding="utf-8") as file:
                file.write(keys[item["key"]])
            os.chown(path, 0, group)
            os.chmod(path, source.get("defaultMode", 0o644))

    def make_folder(self, name, group):
        path = f"{self.folder}/{name}"
        os.makedirs(path, exist_ok=True)
        os.chown(path, 0, group)
        os.chmod(path, 0o2775)
        return path

    def kill(self, pod):
        """Ends a pod at once, as when its node goes."""
        self.running.pop(pod).kill()
        self.network.remove(pod)
        shutil.rmtree(f"{self.folder}/pods/{pod}", ignore_errors=True)

    def probe(self, name, ordinal, kind):
        """Waits until a pod's probe of this kind succeeds; CalledProcessError if it does not."""
        self.probe_pod(f"{name}-{ordinal}", self.stateful_sets[name]["spec"]["template"]["spec"], kind)

    def probe_pod(self, pod, spec, kind):
        probe, address = spec["containers"][0][kind], self.network.addresses[pod]
        if "exec" in probe:
            end = time.monotonic() + PROBE_TIMEOUT_S
            while (result := self.execute_probe(pod, probe)).returncode != 0 and time.monotonic() < end:
                time.sleep(0.1)
            result.check_returncode()
        else:
            command = [sys.executable, HEALTH, f"{address}:{probe['grpc']['port']}", probe["grpc"]["service"]]
            subprocess.run(self.network.on_node(*command), check=True, capture_output=True, text=True)

    def execute_probe(self, pod, probe):
        """Executes a probe's command once in a pod; see subprocess.run."""
        return self.running[pod].execute(probe["exec"]["command"], timeout_s=probe["timeoutSeconds"])

    def log(self, pod):
        with open(f"{self.folder}/logs/{pod}", encoding="utf-8") as file:
            return file.read()
