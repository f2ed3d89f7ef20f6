"""A job that is quick on two cores, with Debian's dataset-fashion-mnist."""

DATA = "/usr/share/datasets/fashion-mnist"
EXAMPLES = 60000


def text(epochs):
    return f"""
name: small
strategy: parameter_server
cluster: {{ps: 1, worker: 2}}
model: {{layers: [Input: {{shape: [28, 28, 1]}}, Flatten: {{}}, Dense: {{units: 10}}]}}
loss: {{SparseCategoricalCrossentropy: {{from_logits: true}}}}
optimizer: {{SGD: {{learning_rate: 0.1}}}}
metrics: [accuracy]
data:
  train:
    idx: {{features: {DATA}/train-images-idx3-ubyte.gz, labels: {DATA}/train-labels-idx1-ubyte.gz}}
    scale: 0.00392156862745098
    shuffle: true
batch_size_per_replica: 32
epochs: {epochs}
"""
