"""A network of pods: a network namespace each, on a bridge. Needs root and `ip netns`."""

import os
import subprocess


def ip(*arguments):
    subprocess.run(["ip", *map(str, arguments)], check=True)


def obstacle():
    """Why there can be none here; "" if there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    name = f"paceline-test-{os.getpid()}-probe"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode != 0:
        return "`ip netns` cannot make namespaces here"
    ip("netns", "delete", name)
    return ""


class PodNetwork:
    """Names resolve by one file of hosts, which all pods mount, and addresses are never used twice.

    A Service's address is one more of the pod behind it, and moves with `move_service`.
    """

    SERVICE_ADDRESS = "10.78.200.1"

    def __init__(self, hosts_path):
        self.hosts_path = hosts_path
        self.names = {"localhost": "127.0.0.1"}
        self.addresses = {}
        self.count = 0
        # tests/integration/harness/test_network.cc removes those of tests that were killed.
        self.prefix = f"paceline-test-{os.getpid()}-"
        # Of the node: kubelet's probes, and people's calls, come from it.
        self.node = self.prefix + "node"
        ip("netns", "add", self.node)
        ip("-n", self.node, "link", "add", "name", "hub0", "type", "bridge", "forward_delay", 0)
        ip("-n", self.node, "address", "add", "10.78.0.1/16", "dev", "hub0")
        for device in ["lo", "hub0"]:
            ip("-n", self.node, "link", "set", device, "up")

    def remove_all(self):
        for pod in list(self.addresses):
            self.remove(pod)
        ip("netns", "delete", self.node)

    def namespace(self, pod):
        return self.prefix + pod

    def add(self, pod, names):
        """Gives a pod an address, and it the names."""
        self.count += 1
        name, address = self.namespace(pod), f"10.78.1.{self.count}"
        ip("netns", "add", name)
        ip("-n", self.node, "link", "add", "name", f"port{self.count}", "type", "veth",
           "peer", "name", "eth0", "netns", name)
        ip("-n", self.node, "link", "set", f"port{self.count}", "master", "hub0", "up")
        ip("-n", name, "address", "add", address + "/16", "dev", "eth0")
        for device in ["lo", "eth0"]:
            ip("-n", name, "link", "set", device, "up")
        self.addresses[pod] = address
        self.set_names({name: address for name in names})

    def remove(self, pod):
        address = self.addresses.pop(pod)
        ip("netns", "delete", self.namespace(pod))
        self.names = {name: other for name, other in self.names.items() if other != address}
        self.set_names({})

    def move_service(self, names, pod):
        """A Service's names lead to the pod from now on."""
        ip("-n", self.namespace(pod), "address", "add", self.SERVICE_ADDRESS + "/16", "dev", "eth0")
        # The others forget where it was.
        for namespace in [self.node, *map(self.namespace, self.addresses)]:
            ip("-n", namespace, "neighbour", "flush", "all")
        self.set_names({name: self.SERVICE_ADDRESS for name in names})

    def set_names(self, names):
        self.names.update(names)
        # In place, since the file itself is mounted.
        with open(self.hosts_path, "w", encoding="utf-8") as file:
            file.writelines(f"{address} {name}\n" for name, address in self.names.items())

    def on_node(self, *command):
        """A command as it is started on the node, which knows the names too."""
        return ["nsenter", f"--net=/run/netns/{self.node}", "unshare", "--mount", "sh", "-c",
                f'mount --bind {self.hosts_path} /etc/hosts && exec "$@"', "sh", *command]
