"""Lints, renders and validates deploy/helm/paceline: chart_test.py REPOSITORY BUILD."""

import os
import re
import subprocess
import sys
import unittest

import helm_python
import kubernetes_validate
import yaml

import chart

BUILD = os.path.abspath(sys.argv[2])
# The oldest that Chart.yaml takes, and later ones.
KUBERNETES_VERSIONS = ["1.27", "1.32", "1.37"]
PROBES = ["startupProbe", "livenessProbe", "readinessProbe"]
AFFINITY = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"a": "b"}}}]}}

VALUES = {
    "as it is": {},
    "gpu": {
        "image": {"repository": "registry.example.com/paceline", "tag": "9",
                  "pullSecrets": [{"name": "registry"}]},
        "worker": {"gpu": {"count": 2, "runtimeClassName": "nvidia"},
                   "nodeSelector": {"accelerator": "h100"},
                   "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]},
    },
    "autoscaling": {
        "worker": {"autoscaling": {"enabled": True, "minReplicas": 2, "maxReplicas": 8},
                   "pdb": {"maxUnavailable": "25%"}},
    },
    "data": {
        "data": [
            {"name": "sets", "path": "/data/sets",
             "volume": {"persistentVolumeClaim": {"claimName": "sets", "readOnly": True}}},
            {"name": "local", "path": "/data/local", "volume": {"hostPath": {"path": "/srv/data"}}}],
        "worker": {"labels": {"zone": "a"}, "extraArgs": ["--cores", "1"]},
    },
    "open and placed": {
        "networkPolicy": {"clients": [{"namespaceSelector": {}}],
                          "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]},
        "coordinator": {"port": 7000, "affinity": AFFINITY, "storage": {"className": "fast", "size": "1Ti"},
                        "service": {"type": "LoadBalancer", "annotations": {"internal": "true"}}},
        "ps": {"replicas": 3, "affinity": AFFINITY, "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]},
    },
    "bare": {
        "networkPolicy": {"enabled": False}, "ps": {"replicas": 0, "pdb": {"enabled": False}},
        "worker": {"pdb": {"enabled": False}, "resources": {"requests": None, "limits": None}},
    },
}
VALUES["tls by secret"] = {"tls": {"enabled": True, "secretName": "our-tls"}, "worker": VALUES["gpu"]["worker"],
                           "coordinator": {"extraArgs": ["--token-file", "/etc/token"]}}
VALUES["token by secret"] = {"tokens": {"admin": {"existingSecret": "ours", "key": "admin.token"}}}
VALUES["tls by cert-manager"] = {
    "tls": {"enabled": True, "certManager": {
        "enabled": True, "issuerRef": {"name": "lab", "kind": "ClusterIssuer"}, "dnsNames": ["jobs.example.com"]}}}

# (values, what the error says)
WRONG_VALUES = [
    ({"wrkr": {}}, "wrkr"),
    ({"worker": {"replica": 3}}, "replica"),
    ({"worker": {"replicas": -1}}, "replicas"),
    ({"worker": {"replicas": "three"}}, "replicas"),
    ({"worker": {"gpu": {"count": 1.5}}}, "count"),
    ({"worker": {"gpu": {"resource": "gpu"}}}, "resource"),
    ({"worker": {"labels": {"zone": "a b"}}}, "zone"),
    ({"worker": {"pdb": {"maxUnavailable": "many"}}}, "maxUnavailable"),
    ({"worker": {"resources": {"limits": {"memory": "4 GB"}}}}, "memory"),
    ({"worker": {"autoscaling": {"cpuPercent": 0}}}, "cpuPercent"),
    ({"worker": {"autoscaling": {"enabled": True, "minReplicas": 5, "maxReplicas": 2}}}, "minReplicas is 5"),
    ({"coordinator": {"port": 80}}, "port"),
    ({"coordinator": {"replicas": 2}}, "replicas"),
    ({"coordinator": {"service": {"type": "External"}}}, "type"),
    ({"coordinator": {"storage": {"size": "large"}}}, "size"),
    ({"image": {"pullPolicy": "Sometimes"}}, "pullPolicy"),
    ({"secret": {"name": "Not_A_Name"}}, "name"),
    ({"runAs": {"user": 0}}, "user"),
    ({"tokens": {"admin": {"existingSecret": "Not_A_Name"}}}, "existingSecret"),
    ({"tokens": {"admin": {"existingSecret": "a", "key": "a/b"}}}, "key"),
    ({"tls": {"enabled": True}}, "neither secretName nor certManager"),
    ({"tls": {"enabled": True, "secretName": "a", "certManager": {"enabled": True}}}, "expected one of them"),
    ({"tls": {"enabled": True, "certManager": {"enabled": True}}}, "issuerRef.name is empty"),
    ({"tls": {"secretName": "a"}}, "enabled is false"),
    ({"tls": {"certManager": {"enabled": True, "issuerRef": {"name": "a"}}}}, "enabled is false"),
    ({"tls": {"enabled": True, "secretName": "Not_A_Name"}}, "secretName"),
    ({"tls": {"certManager": {"duration": "90d"}}}, "duration"),
    ({"tls": {"certManager": {"dnsNames": ["a b"]}}}, "dnsNames"),
    ({"coordinator": {"extraArgs": [1]}}, "extraArgs"),
    ({"data": [{"name": "sets", "path": "data", "volume": {"emptyDir": {}}}]}, "path"),
    ({"data": [{"name": "sets", "path": "/data"}]}, "volume"),
]


class ChartTest(unittest.TestCase):
    def test_helm_finds_nothing_to_complain_of(self):
        for name, values in VALUES.items():
            report = helm_python.lint(chart.CHART, values, strict=True)
            worse = [message for message in report["messages"] if message["severity"] > 1]
            self.assertEqual((worse, report["errors"]), ([], []), name)

    def test_kubernetes_takes_what_it_renders(self):
        count = 0
        for name, values in VALUES.items():
            for thing in chart.render(values):
                # Kubernetes knows no schema of cert-manager's.
                if thing["apiVersion"] == "cert-manager.io/v1":
                    continue
                for version in KUBERNETES_VERSIONS:
                    with self.subTest(name, kind=thing["kind"], version=version):
                        kubernetes_validate.validate(thing, version, strict=True)
                        count += 1
        print(f"{count} validations")

    def test_wrong_values_are_refused(self):
        for values, message in WRONG_VALUES:
            with self.subTest(values), self.assertRaisesRegex(helm_python.HelmError, message):
                chart.render(values)

    def test_each_value_is_commented_and_in_the_schema(self):
        with open(chart.CHART + "/values.yaml", encoding="utf-8") as file:
            lines = file.read().splitlines()
        for before, line in zip(lines, lines[1:]):
            if re.match(r" *\w+:", line):
                self.assertRegex(before, r"^ *# ", line)
        with helm_python.Chart.load(chart.CHART) as loaded:
            values, schema = loaded.values, loaded.schema

        def compare(value, part, path):
            part = schema["$defs"][part["$ref"].split("/")[-1]] if "$ref" in part else part
            if part.get("additionalProperties") is False and isinstance(value, dict):
                self.assertEqual(sorted(value), sorted(set(part["properties"]) - {"global"}), path)
                for key in value:
                    compare(value[key], part["properties"][key], f"{path}.{key}")

        compare(values, schema, "values")

    def test_what_objects_name_is_there(self):
        for name, values in VALUES.items():
            objects = chart.render(values)
            services = chart.of_kind(objects, "Service")
            for thing in chart.of_kind(objects, "StatefulSet").values():
                with self.subTest(name, thing=thing["metadata"]["name"]):
                    self.check_stateful_set(thing, services)
            sets = chart.of_kind(objects, "StatefulSet")
            pods = [thing["spec"]["template"]["metadata"]["labels"] for thing in sets.values()]
            for kind in ["PodDisruptionBudget", "NetworkPolicy"]:
                for thing in chart.of_kind(objects, kind).values():
                    spec = thing["spec"]
                    labels = (spec.get("selector") or spec["podSelector"])["matchLabels"].items()
                    self.assertTrue(any(labels <= pod.items() for pod in pods))
            for thing in chart.of_kind(objects, "HorizontalPodAutoscaler").values():
                self.assertNotIn("replicas", sets[thing["spec"]["scaleTargetRef"]["name"]]["spec"])

    def check_stateful_set(self, thing, services):
        spec, template = thing["spec"], thing["spec"]["template"]
        labels = template["metadata"]["labels"].items()
        self.assertLessEqual(spec["selector"]["matchLabels"].items(), labels)
        self.assertLessEqual(services[spec["serviceName"]]["spec"]["selector"].items(), labels)
        pod = template["spec"]
        volumes = [volume["name"] for volume in pod["volumes"]]
        volumes += [claim["metadata"]["name"] for claim in spec.get("volumeClaimTemplates", [])]
        for container in pod["containers"]:
            self.assertCountEqual([mount["name"] for mount in container["volumeMounts"]], volumes)
            self.assertTrue(container["securityContext"]["readOnlyRootFilesystem"])
        self.assertTrue(pod["securityContext"]["runAsNonRoot"])

    def test_daemons_know_their_places(self):
        daemon = chart.pod_templates(chart.render({}))["demo-paceline-worker"]["spec"]["containers"][0]
        self.assertLessEqual(
            {"--coordinator=demo-paceline-coordinator:2222", "--name=$(POD_NAME)",
             "--advertise=$(POD_NAME).demo-paceline-worker.ml.svc"}, set(daemon["command"]))

    def test_all_pods_have_the_certificate(self):
        for name, secret in [("tls by secret", "our-tls"), ("tls by cert-manager", "demo-paceline-tls")]:
            objects = chart.render(VALUES[name])
            pods = [template["spec"] for template in chart.pod_templates(objects).values()]
            pods += [pod["spec"] for pod in chart.of_kind(objects, "Pod").values()]
            self.assertEqual(len(pods), 4)
            for pod in pods:
                volume, = (each for each in pod["volumes"] if each["name"] == "tls")
                self.assertEqual((volume["secret"]["secretName"], volume["secret"]["defaultMode"]), (secret, 0o440))
                container, = pod["containers"]
                mount, = (each for each in container["volumeMounts"] if each["name"] == "tls")
                self.assertTrue(mount["readOnly"])
                files = {f"{mount['mountPath']}/{item['path']}" for item in volume["secret"]["items"]}
                given = {word.split("=")[1] for word in container["command"] if word.startswith("--tls-")}
                self.assertEqual((given, len(given)), (files, 3))
                for probe in PROBES:
                    self.assertNotIn("grpc", container.get(probe, {}))
        self.assertNotIn("--tls-", str(chart.render({})))

    def test_the_coordinator_alone_has_the_token_of_an_admin(self):
        pods = chart.pod_templates(chart.render(VALUES["token by secret"]))
        for name, template in pods.items():
            container, = template["spec"]["containers"]
            path, = ([word.split("=")[1] for word in container["command"] if word.startswith("--admin-token-file=")]
                     or [None])
            volumes = {volume["name"]: volume.get("secret") for volume in template["spec"]["volumes"]}
            if not name.endswith("-coordinator"):
                self.assertEqual((path, "admin-token" in volumes), (None, False))
                continue
            self.assertEqual(volumes["admin-token"], {
                "secretName": "ours", "defaultMode": 0o440, "items": [{"key": "admin.token", "path": "token"}]})
            mount, = (each for each in container["volumeMounts"] if each["name"] == "admin-token")
            self.assertEqual((path, mount["readOnly"]), (mount["mountPath"] + "/token", True))
        self.assertNotIn("--admin-token-file", str(chart.render({})))

    def test_probes_ask_for_health(self):
        services = {"startupProbe": "liveness", "livenessProbe": "liveness", "readinessProbe": "readiness"}
        for name in ["as it is", "tls by secret"]:
            values = dict(VALUES[name], coordinator={"port": 7000})
            container, = chart.pod_templates(chart.render(values))["demo-paceline-coordinator"]["spec"]["containers"]
            for kind in PROBES:
                probe = container[kind]
                if name == "as it is":
                    self.assertEqual(probe["grpc"], {"port": 7000, "service": services[kind]})
                    continue
                program, verb, address, *options = probe["exec"]["command"]
                self.assertEqual((program, verb, address), (container["command"][0], "health", "127.0.0.1:7000"))
                self.assertIn("--service=" + services[kind], options)
                self.assertLessEqual({word for word in container["command"] if word.startswith("--tls-")},
                                     set(options))
                timeout, = (word.split("=")[1] for word in options if word.startswith("--timeout="))
                self.assertLess(int(timeout), probe["timeoutSeconds"])

    def test_cert_manager_is_asked_for_the_names_that_are_called(self):
        objects = chart.render(VALUES["tls by cert-manager"])
        certificate, = chart.of_kind(objects, "Certificate").values()
        self.assertEqual(certificate["apiVersion"], "cert-manager.io/v1")
        spec = certificate["spec"]
        self.assertEqual(spec["issuerRef"], {"name": "lab", "kind": "ClusterIssuer", "group": "cert-manager.io"})
        self.assertLessEqual({"server auth", "client auth"}, set(spec["usages"]))
        self.assertLessEqual({"jobs.example.com", "demo-paceline-coordinator"}, set(spec["dnsNames"]))
        for component in ["ps", "worker"]:
            command = chart.pod_templates(objects)[f"demo-paceline-{component}"]["spec"]["containers"][0]["command"]
            advertised, = (word.split("=")[1] for word in command if word.startswith("--advertise="))
            self.assertIn(advertised.replace("$(POD_NAME)", "*"), spec["dnsNames"])
            # Neither gRPC nor OpenSSL takes a wildcard of one more label.
            self.assertGreater(advertised.count("."), 1)
        self.assertFalse(chart.of_kind(chart.render(VALUES["tls by secret"]), "Certificate"))

    def test_workers_get_gpus_and_their_image(self):
        pods = chart.pod_templates(chart.render(VALUES["gpu"]))
        worker, ps = (pods[f"demo-paceline-{name}"]["spec"]["containers"][0] for name in ["worker", "ps"])
        self.assertEqual(worker["image"], "registry.example.com/paceline:9-cuda")
        self.assertEqual(worker["resources"]["limits"], {"cpu": "2", "memory": "4Gi", "nvidia.com/gpu": 2})
        self.assertEqual(ps["image"], "registry.example.com/paceline:9")
        self.assertNotIn("nvidia.com/gpu", ps["resources"]["limits"])

    def test_long_release_names_still_name_pods(self):
        for thing in chart.render({}, release="a" * 53):
            name = thing["metadata"]["name"]
            # A StatefulSet's revision, "-" and ten characters, is a label of 63 at most.
            self.assertLessEqual(len(name), 52 if thing["kind"] == "StatefulSet" else 63)

    def test_programs_know_the_options_of_their_pods(self):
        objects = chart.render(dict(VALUES["data"], tls=VALUES["tls by secret"]["tls"], **VALUES["token by secret"]))
        containers = [template["spec"]["containers"][0] for template in chart.pod_templates(objects).values()]
        probes = [container[kind]["exec"] for container in containers for kind in PROBES if kind in container]
        for program, *options in (each["command"] for each in containers + probes):
            program = f"{BUILD}/bin/{os.path.basename(program)}"
            verbs = [option for option in options[:1] if not option.startswith("-")]
            known = subprocess.run([program, *verbs, "--help"], capture_output=True, text=True,
                                   check=True).stdout
            if not verbs and "--work " not in known:
                print(f"{program} is no daemon yet")
                continue
            for option in options:
                if option.startswith("--"):
                    self.assertIn(option.split("=")[0], known)

    def test_notes_name_what_is_there(self):
        text = chart.notes({"secret": {"name": "ours", "key": "token"}, "coordinator": {"port": 7000}})
        for part in ["create secret generic ours", "--from-literal=token=", "demo-paceline-coordinator 7000",
                     "networkPolicy.clients"]:
            self.assertIn(part, text)
        self.assertNotIn("tls", text)
        self.assertNotIn("PACELINE_TOKEN_FILE", text)
        text = chart.notes(VALUES["token by secret"])
        for part in ["create secret generic ours", '--from-literal=admin.token="paceline_', r"{.data.admin\.token}",
                     "PACELINE_TOKEN_FILE", "token create"]:
            self.assertIn(part, text)
        self.assertNotIn("PACELINE_SECRET_FILE", text)
        text = chart.notes(VALUES["tls by secret"])
        for part in ["Secret our-tls", "- demo-paceline-coordinator.ml.svc\n", r"{.data.tls\.crt}", "members $tls"]:
            self.assertIn(part, text)
        self.assertIn("once cert-manager", chart.notes(VALUES["tls by cert-manager"]))

    def test_the_version_is_that_of_the_programs(self):
        root = os.path.join(chart.CHART, "../../..")
        with open(root + "/VERSION", encoding="utf-8") as version:
            with open(chart.CHART + "/Chart.yaml", encoding="utf-8") as file:
                self.assertEqual(yaml.safe_load(file)["appVersion"], version.read().strip())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
