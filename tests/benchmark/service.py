#!/usr/bin/env python3
"""Figures of a service, with the real programs (README.md has the last ones).

  tests/benchmark/service.py [first_step | throughput | list | daemons | kills]...

Prints JSON: medians, and the values behind them.
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = ROOT / "build/release/bin"
JOB = ROOT / "deploy/jobs/fashion_mnist.yaml"
DATA = "/usr/share/datasets"
PAIRS = 5
JOBS_IN_STORE = 10_000
DAEMONS = int(os.environ.get("PACELINE_DAEMONS", 10_000))
KILLS = int(os.environ.get("PACELINE_KILLS", 1000))
SECONDS = 30


class Service:
    """A coordinator and its daemons on this machine."""

    def __init__(self, folder, daemons=("ps_server", "worker"), options=()):
        self.folder = pathlib.Path(folder)
        self.processes = []
        coordinator = self.start("coordinator", "serve", "--listen", "127.0.0.1:0",
                                 "--store", self.folder / "store", *options)
        line = wait_for(lambda: re.search(r"listens on (\S+)", self.log("coordinator")))
        self.address = line.group(1)
        for program in daemons:
            self.start(program, "--coordinator", self.address, "--name", program, "--work",
                       self.folder / program, "--data", DATA, "--cores", "8")
        # The store may know others, which are away.
        wait_for(lambda: all(name in self.run("members", "-o", "name").split()
                             for name in daemons))
        assert coordinator.poll() is None

    def start(self, program, *arguments):
        log = open(self.folder / f"{program}.log", "w")
        process = subprocess.Popen([BIN / program, *map(str, arguments)], stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def log(self, program):
        return (self.folder / f"{program}.log").read_text()

    def run(self, *arguments):
        return subprocess.run([BIN / "coordinator", *map(str, arguments)], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              env={**os.environ, "PACELINE_COORDINATOR": self.address}).stdout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            process.wait(40)


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise TimeoutError(f"nothing after {seconds} s")


def started(service, job):
    """When the process of the job's leader was started, as its daemon logs it."""
    text = re.search(rf"^I(\d{{8}} [\d:.]+) .*leader of {job} runs", service.log("ps_server"),
                     re.MULTILINE).group(1)
    base, micros = text.split(".")
    return time.mktime(time.strptime(base, "%Y%m%d %H:%M:%S")) + float(f"0.{micros}")


def first_step():
    """Seconds from the start of `submit` to the end of the job's first step."""
    seconds = []
    with tempfile.TemporaryDirectory() as folder, Service(folder) as service:
        for _ in range(PAIRS + 1):
            begin = time.time()
            job = service.run("submit", JOB, "--set", "epochs=1", "--set",
                              "steps_per_epoch=20", "--set", "cluster.worker=1").strip()
            service.run("wait", job)
            result = json.loads(service.run("describe", job, "-o", "json"))["result"]
            end = started(service, job) + result["timing"]["first_step_seconds"]
            seconds.append(end - begin)
    # The first one uploads the job's file.
    return {"seconds": statistics.median(seconds[1:]), "all": seconds}


def throughput():
    """Examples per second of a job through a service, over those of `run`."""
    changes = ["--set", "epochs=3", "--set", "cluster.worker=1"]
    ratios = []
    with tempfile.TemporaryDirectory() as folder, Service(folder) as service:
        for pair in range(PAIRS):
            # Each task may use both processors, as under `run`.
            job = service.run("submit", JOB, "--wait", "--worker-cores", "2", "--ps-cores", "2",
                              *changes).strip().split()[0]
            result = json.loads(service.run("describe", job, "-o", "json"))["result"]
            output = pathlib.Path(folder) / f"run-{pair}"
            subprocess.run([BIN / "coordinator", "run", JOB, "--output", output, *changes],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            own = json.loads((output / "result.json").read_text())
            ratios.append(result["timing"]["examples_per_second"] /
                          own["timing"]["examples_per_second"])
    return {"ratio": statistics.median(ratios), "all": ratios}


def varint(number):
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(encoded + bytes([number]))


def fill(store):
    """Copies the one finished job in the store until there are many."""
    database = sqlite3.connect(store / "queue.db")
    job, record = database.execute("SELECT id, record FROM jobs").fetchone()
    # A JobRecord begins with the id, and the number, which is 1.
    begin = b"\x0a" + varint(len(job)) + job.encode() + b"\x10\x01"
    assert record.startswith(begin), record[:40]
    for number in range(2, JOBS_IN_STORE + 1):
        copy = f"{job[:-1]}{number}"
        database.execute("INSERT INTO jobs VALUES (?, ?)",
                         (copy, b"\x0a" + varint(len(copy)) + copy.encode() + b"\x10" +
                          varint(number) + record[len(begin):]))
    database.execute("UPDATE numbers SET value = ?", (JOBS_IN_STORE,))
    database.commit()
    database.close()
    return copy


def list_jobs():
    """Seconds of `list` and `describe`, with all of their process."""
    times = {"list": [], "list of all": [], "describe": []}
    with tempfile.TemporaryDirectory() as folder:
        with Service(folder) as service:
            service.run("submit", JOB, "--wait", "--set", "epochs=1", "--set",
                        "steps_per_epoch=5")
        job = fill(pathlib.Path(folder) / "store")
        with Service(folder, daemons=()) as service:
            for _ in range(PAIRS):
                for name, command in (("list", ["list"]),
                                      ("list of all", ["list", "--limit", "0"]),
                                      ("describe", ["describe", job])):
                    begin = time.monotonic()
                    service.run(*command)
                    times[name].append(time.monotonic() - begin)
    return {name: {"seconds": statistics.median(all_), "all": all_}
            for name, all_ in times.items()}


def processor_seconds(process):
    user, system = (pathlib.Path("/proc") / str(process.pid) / "stat").read_text().split()[13:15]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def resident_bytes(process):
    status = (pathlib.Path("/proc") / str(process.pid) / "status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) * 1024


def daemons():
    """Idle daemons: what they cost the coordinator, and how soon it answers."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        secret = pathlib.Path(folder) / "secret"
        secret.write_text("the secret of many daemons\n")
        service = stack.enter_context(Service(folder, daemons=(),
                                              options=("--secret-file", secret)))
        coordinator = service.processes[0]
        client = subprocess.Popen([BIN / "daemons_benchmark", service.address, secret,
                                   str(DAEMONS), str(SECONDS + 5)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # It says when all are registered; then their messages spread.
        for line in client.stderr:
            if line == "registered\n":
                break
            sys.stderr.write(line)
        time.sleep(12)
        begin, used = time.monotonic(), processor_seconds(coordinator)
        time.sleep(SECONDS)
        share = (processor_seconds(coordinator) - used) / (time.monotonic() - begin)
        memory = resident_bytes(coordinator)
        output, errors = client.communicate(timeout=120)
        assert client.returncode == 0, errors
    return {"share_of_a_core": share, "resident_bytes": memory, **json.loads(output)}


def kills():
    """SIGKILLs of the coordinator while jobs are submitted, start and end."""
    test = "ServiceFailureTest.NoJobIsLostOrRunTwiceWhenTheCoordinatorDies"
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        begin = time.monotonic()
        subprocess.run([ROOT / "build/release/tests/service_failure_test",
                        f"--gtest_filter={test}", f"--gtest_output=json:{report}"],
                       check=True, stdout=sys.stderr, cwd=ROOT,
                       env={**os.environ, "PACELINE_KILLS": str(KILLS)})
        seconds = time.monotonic() - begin
        run = json.loads(report.read_text())["testsuites"][0]["testsuite"][0]
    counts = {name: int(run[name])
              for name in ("kills", "submitted", "there_at_the_end", "started_once")}
    return {**counts, "seconds": round(seconds)}


BENCHMARKS = {"first_step": first_step, "throughput": throughput, "list": list_jobs,
              "daemons": daemons, "kills": kills}

if __name__ == "__main__":
    for name in sys.argv[1:] or BENCHMARKS:
        print(json.dumps({name: BENCHMARKS[name]()}), flush=True)
