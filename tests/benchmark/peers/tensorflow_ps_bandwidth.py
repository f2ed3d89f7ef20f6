"""A variable on a ps, which one worker pushes to and pulls from, in TensorFlow.

    tensorflow_ps_bandwidth.py ps|worker|chief PS_ADDRESS WORKER_ADDRESS CHIEF_ADDRESS

One process each. The chief prints {"push": bytes/s, "pull": …} for each size.
"""

import json
import sys
import time

import tensorflow as tf

SIZES_MIB = (1, 4, 64)
# Of each size, in a call.
TOTAL_MIB = 256


def measure(operation, count, size_bytes):
    count_tensor = tf.constant(count)
    operation(count_tensor).numpy()
    start = time.perf_counter()
    operation(count_tensor).numpy()
    return size_bytes * count / (time.perf_counter() - start)


def bandwidths(mebibytes):
    elements = (mebibytes << 20) // 4
    with tf.device("/job:ps/task:0"):
        variable = tf.Variable(tf.zeros([elements]))
    with tf.device("/job:worker/task:0"):
        gradient = tf.Variable(tf.ones([elements]))

    @tf.function
    def push(count):
        for _ in tf.range(count):
            with tf.device("/job:worker/task:0"):
                sent = gradient * 1.0
            with tf.device("/job:ps/task:0"):
                variable.assign_add(sent)
        return tf.constant(0)

    @tf.function
    def pull(count):
        for _ in tf.range(count):
            with tf.device("/job:ps/task:0"):
                sent = variable.read_value() + 1.0
            with tf.device("/job:worker/task:0"):
                gradient.assign(sent)
        return tf.constant(0)

    count = max(4, TOTAL_MIB // mebibytes)
    size_bytes = elements * 4
    return {"push": measure(push, count, size_bytes), "pull": measure(pull, count, size_bytes)}


def main():
    role = sys.argv[1]
    cluster = tf.train.ClusterSpec(
        {"ps": [sys.argv[2]], "worker": [sys.argv[3]], "chief": [sys.argv[4]]})
    if role != "chief":
        tf.distribute.Server(cluster, job_name=role, task_index=0).join()
    tf.config.experimental_connect_to_cluster(cluster, job_name="chief", task_index=0)
    print(json.dumps({size: bandwidths(size) for size in SIZES_MIB}), flush=True)


if __name__ == "__main__":
    main()
