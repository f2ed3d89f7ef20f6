"""Starts programs in a root file system as a container's, without a container runtime."""

import os
import shlex
import subprocess


def start(root, command, configuration, mounts, **options):
    """Starts `command`, whose root file system is the folder `root`, read-only.

    It has the user, group, environment and folder of `configuration` (dockerfile.py), no
    capabilities, and `mounts`: {path in the container: (folder here, or None for memory,
    whether it may write)}. Returns a Popen, which `options` are for; its process is the
    program. Needs root.
    """
    steps = ["mount --make-rprivate /",
             f"mount --bind {root} {root}", f"mount -o remount,bind,ro {root}",
             f"mount -t proc proc {root}/proc", f"mount --rbind /dev {root}/dev",
             f"mount -t tmpfs tmpfs {root}/run"]
    for path, (folder, writes) in mounts.items():
        target = root + path
        if folder is None:
            steps.append(f"mount -t tmpfs -o mode=1777 tmpfs {target}")
        else:
            steps.append(f"mount --bind {folder} {target}")
            if not writes:
                steps.append(f"mount -o remount,bind,ro {target}")
    user, group = configuration["user"], configuration["group"]
    program = [
        "chroot", root, "setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups",
        "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "env", "--ignore-environment",
        f"--chdir={configuration['folder']}",
        *(f"{name}={value}" for name, value in configuration["env"].items()), *command]
    for path in mounts:
        os.makedirs(root + path, exist_ok=True)
    script = " && ".join([*steps, "exec " + shlex.join(program)])
    return subprocess.Popen(["unshare", "--mount", "/bin/sh", "-c", script], **options)


def run(root, command, configuration, mounts):
    """Its exit code and what it wrote."""
    with start(root, command, configuration, mounts, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
               text=True) as process:
        output = process.communicate(timeout=60)[0]
    return process.returncode, output
