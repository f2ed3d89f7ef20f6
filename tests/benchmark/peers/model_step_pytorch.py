"""Training steps of a model of deploy/jobs under PyTorch.

    model_step_pytorch.py resnet18|mobilenet_v2 SIZE BATCH THREADS MODE

MODE is eager or compile, then -contiguous or -channels_last. Float32, without
metrics. See step_server.
"""

import sys

import torch
from torch import nn

import step_server


class Block(nn.Module):
    """Adds to its input, or to the shortcut of it, what `path` makes of it."""

    def __init__(self, path, shortcut=None, activation=None):
        super().__init__()
        self.path = path
        self.shortcut = shortcut or nn.Identity()
        self.activation = activation or nn.Identity()

    def forward(self, x):
        return self.activation(self.path(x) + self.shortcut(x))


def convolution(inputs, filters, size, strides=1, groups=1, activation=None):
    parts = [nn.Conv2d(inputs, filters, size, strides, size // 2, groups=groups, bias=False),
             nn.BatchNorm2d(filters)]
    return nn.Sequential(*parts, *([activation] if activation else []))


def residual(inputs, filters, strides):
    path = nn.Sequential(
        convolution(inputs, filters, 3, strides, activation=nn.ReLU(inplace=True)),
        convolution(filters, filters, 3))
    shortcut = None if strides == 1 else convolution(inputs, filters, 1, strides)
    return Block(path, shortcut, nn.ReLU(inplace=True))


def resnet18():
    blocks = [convolution(3, 64, 7, 2, activation=nn.ReLU(inplace=True)), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for filters in (64, 128, 256, 512):
        blocks.append(residual(inputs, filters, 1 if filters == 64 else 2))
        blocks.append(residual(filters, filters, 1))
        inputs = filters
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


def inverted_residual(inputs, filters, strides, expansion):
    hidden = inputs * expansion
    path = nn.Sequential(
        *([convolution(inputs, hidden, 1, activation=nn.ReLU6(inplace=True))]
          if expansion > 1 else []),
        convolution(hidden, hidden, 3, strides, groups=hidden, activation=nn.ReLU6(inplace=True)),
        convolution(hidden, filters, 1))
    return Block(path) if strides == 1 and inputs == filters else path


def mobilenet_v2():
    blocks = [convolution(3, 32, 3, 2, activation=nn.ReLU6(inplace=True))]
    inputs = 32
    for expansion, filters, count, strides in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2),
                                               (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                               (6, 320, 1, 1)):
        for i in range(count):
            blocks.append(inverted_residual(inputs, filters, strides if i == 0 else 1, expansion))
            inputs = filters
    return nn.Sequential(*blocks, convolution(320, 1280, 1, activation=nn.ReLU6(inplace=True)),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000))


MODELS = {
    "resnet18": (resnet18, lambda p: torch.optim.SGD(p, 0.1, momentum=0.9)),
    "mobilenet_v2": (mobilenet_v2, lambda p: torch.optim.Adam(p, 0.001)),
}


def main():
    name, mode = sys.argv[1], sys.argv[5]
    size, batch, threads = map(int, sys.argv[2:5])
    torch.set_num_threads(threads)
    make_model, make_optimizer = MODELS[name]
    runner, memory = mode.split("-")
    memory_format = getattr(torch, f"{memory}_format" if memory == "contiguous" else memory)
    model = make_model().to(memory_format=memory_format).train()
    optimizer = make_optimizer(model.parameters())
    run = torch.compile(model) if runner == "compile" else model
    loss_function = nn.CrossEntropyLoss()
    images = torch.rand(batch, 3, size, size).to(memory_format=memory_format)
    labels = torch.randint(1000, (batch,))

    def train_step():
        optimizer.zero_grad()
        loss = loss_function(run(images), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    step_server.serve(train_step)


main()
