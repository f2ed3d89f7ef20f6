"""A client in Python that knows only proto/: it initialises a parameter server,
pulls, pushes, and pulls again; and a probe that asks for the server's health.
Debian's python3-grpcio; messages by protoc.

    grpcio_test.py SHARD_SERVER SOURCE_FOLDER
"""

import array
import glob
import hmac
import importlib
import os
import subprocess
import sys
import tempfile
import time
import unittest

SKIPPED = 77
try:
    import grpc
    from google.protobuf import json_format
except ImportError as error:
    print(f"skipped: {error}; install Debian's python3-grpcio")
    sys.exit(SKIPPED)

SHARD_SERVER, SOURCE = sys.argv[1], sys.argv[2]
INCARNATION = 77
SECRET = "the secret of an interop test"
TIMEOUT_SECONDS = 30
JOB = {
    "strategy": "STRATEGY_PARAMETER_SERVER",
    "seed": "5",
    "model": {"layers": [
        {"className": "InputLayer", "config": {"batch_shape": [None, 3]}},
        {"className": "Dense", "config": {"units": 4, "use_bias": False}},
    ]},
    "loss": {"className": "MeanSquaredError"},
    "optimizer": {"className": "SGD", "config": {"learning_rate": 0.5}},
}


def load_messages(folder):
    """The modules that protoc makes of proto/paceline/v1."""
    proto = os.path.join(SOURCE, "proto")
    files = glob.glob(os.path.join(proto, "paceline", "v1", "*.proto"))
    subprocess.run(["protoc", f"-I{proto}", f"--python_out={folder}", *files], check=True)
    sys.path.insert(0, folder)
    return (importlib.import_module("paceline.v1.ps_pb2"),
            importlib.import_module("paceline.v1.call_pb2"))


def load_health(folder):
    """The messages of proto/grpc/health/v1, whose package `grpc` is also that of
    the library."""
    name = "health_pb2"
    proto = os.path.join(SOURCE, "proto", "grpc", "health", "v1")
    subprocess.run(["protoc", f"-I{proto}", f"--python_out={folder}", "health.proto"], check=True)
    return importlib.import_module(name)


class Prover:
    """Makes calls that carry the header which call.proto specifies."""

    def __init__(self, channel):
        self.channel = channel
        self.key = hmac.digest(SECRET.encode(), b"paceline call", "sha256")
        self.challenge = b""
        self.sequence = 0

    def header(self, method):
        self.sequence += 1
        header = call_messages.CallHeader(
            job_id="00000000000000aa", generation=1, incarnation=5, method=method,
            sequence=self.sequence)
        header.sender.type = call_messages.paceline_dot_v1_dot_coordinator__pb2.TASK_TYPE_WORKER
        content = header.SerializeToString()
        header.mac = hmac.digest(self.key, self.challenge + content, "sha256")
        return header.SerializeToString()

    def call(self, method, request, read=None):
        path = f"/paceline.v1.ParameterServerService/{method}"
        call = self.channel.unary_unary(path, response_deserializer=read)
        try:
            return self.attempt(call, path, request)
        except grpc.RpcError as error:
            # The connection is new: the refusal has its challenge.
            challenge = dict(error.trailing_metadata()).get("paceline-challenge-bin")
            if error.code() != grpc.StatusCode.UNAUTHENTICATED or challenge == self.challenge:
                raise
            self.challenge = challenge
            self.sequence = max(self.sequence, time.time_ns() // 1000)
        return self.attempt(call, path, request)

    def attempt(self, call, path, request):
        return call(request, timeout=TIMEOUT_SECONDS,
                    metadata=[("paceline-call-bin", self.header(path))])


class PythonClientTest(unittest.TestCase):
    def setUp(self):
        self.server = subprocess.Popen(
            [SHARD_SERVER, str(INCARNATION), SECRET], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True)
        port = self.server.stdout.readline().strip()
        self.channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        self.prover = Prover(self.channel)
        request = ps.InitializeRequest(shard_count=1, workers=1)
        json_format.ParseDict(JOB, request.job)
        self.call("Initialize", request)
        self.call("Admit", ps.AdmitRequest(workers=[ps.WorkerId(rank=0, incarnation=1)]))

    def tearDown(self):
        self.channel.close()
        self.server.communicate("")

    def call(self, method, request):
        response = getattr(ps, f"{method}Response")
        return self.prover.call(method, request.SerializeToString(), response.FromString)

    def pull(self):
        (block,) = self.call("Pull", ps.PullRequest(ps_incarnation=INCARNATION)).variables
        return block.version, array.array("f", block.dense.values)

    def push(self, sequence, values, **more):
        request = ps.PushRequest(ps_incarnation=INCARNATION, **more)
        request.worker.incarnation = 1
        request.progress.sequence = sequence
        block = request.gradients.add(dtype="DATA_TYPE_FLOAT32")
        block.dense.values = array.array("f", values).tobytes()
        return self.call("Push", request)

    def test_pushes_and_pulls(self):
        version, before = self.pull()
        self.assertEqual((version, len(before)), (0, 12))
        response = self.push(1, range(12), pull=True)
        self.assertTrue(response.applied)
        self.assertEqual(response.step, 1)
        version, after = self.pull()
        self.assertEqual(version, 1)
        self.assertEqual(array.array("f", response.variables[0].dense.values), after)
        for i, value in enumerate(after):
            self.assertAlmostEqual(value, before[i] - 0.5 * i, places=5)
        # A repeat is answered, and not applied.
        self.assertFalse(self.push(1, range(12)).applied)
        self.assertEqual(self.pull()[1], after)

    def test_errors_name_what_is_wrong(self):
        with self.assertRaises(grpc.RpcError) as raised:
            self.push(1, range(13))
        self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        self.assertIn("52 bytes from element 0 do not fit", raised.exception.details())
        with self.assertRaises(grpc.RpcError) as raised:
            self.prover.call("Push", b"\x22\x7f")
        self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)


    def test_a_call_without_proof_is_refused(self):
        call = self.channel.unary_unary("/paceline.v1.ParameterServerService/Pull")
        with self.assertRaises(grpc.RpcError) as raised:
            call(b"", timeout=TIMEOUT_SECONDS)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.UNAUTHENTICATED)

    def ask(self, kind, method, service):
        call = kind(f"/grpc.health.v1.Health/{method}",
                    request_serializer=health.HealthCheckRequest.SerializeToString,
                    response_deserializer=health.HealthCheckResponse.FromString)
        return call(health.HealthCheckRequest(service=service), timeout=TIMEOUT_SECONDS)

    def check(self, service):
        return self.ask(self.channel.unary_unary, "Check", service).status

    def test_anybody_may_ask_for_the_health(self):
        answer = health.HealthCheckResponse
        self.assertEqual(self.check(""), answer.SERVING)
        self.assertEqual(self.check("liveness"), answer.SERVING)
        self.assertEqual(self.check("readiness"), answer.NOT_SERVING)
        with self.assertRaises(grpc.RpcError) as raised:
            self.check("the weather")
        self.assertEqual(raised.exception.code(), grpc.StatusCode.NOT_FOUND)

    def test_a_watch_sees_that_the_server_gets_ready(self):
        answer = health.HealthCheckResponse
        unknown = self.ask(self.channel.unary_stream, "Watch", "the weather")
        self.assertEqual(next(unknown).status, answer.SERVICE_UNKNOWN)
        watch = self.ask(self.channel.unary_stream, "Watch", "readiness")
        self.assertEqual(next(watch).status, answer.NOT_SERVING)
        self.server.stdin.write("ready\n")
        self.server.stdin.flush()
        self.assertEqual(next(watch).status, answer.SERVING)
        self.assertEqual(self.check("readiness"), answer.SERVING)
        watch.cancel()
        unknown.cancel()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as messages:
        ps, call_messages = load_messages(messages)
        health = load_health(messages)
        unittest.main(argv=sys.argv[:1])
