"""Asks a task of Paceline for its health, as a kubelet does (grpc.health.v1)."""

import sys
import time

import grpc

SERVING = 1


def status(address, service, timeout_s=5):
    """The status that it answers; grpc.RpcError if it does not."""
    with grpc.insecure_channel(address) as channel:
        check = channel.unary_unary("/grpc.health.v1.Health/Check")
        request = b"\x0a" + bytes([len(service)]) + service.encode()  # field 1: the service
        answer = check(request, timeout=timeout_s, wait_for_ready=True)
        return answer[1] if answer else 0  # field 1: the status


def wait_until_serving(address, service, timeout_s=30):
    end = time.monotonic() + timeout_s
    while status(address, service, timeout_s) != SERVING:
        if time.monotonic() > end:
            raise TimeoutError(f"{address} does not serve {service} after {timeout_s} s")
        time.sleep(0.1)


if __name__ == "__main__":
    wait_until_serving(*sys.argv[1:])
