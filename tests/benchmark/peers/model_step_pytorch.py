"""Training steps of a model of compare_models.py under PyTorch.

    model_step_pytorch.py MODEL SIZE BATCH THREADS MODE [DEVICE]

MODEL is resnet18, resnet50, mobilenet_v2 or tutorial, for images of SIZE pixels, or
lstm or attention, for SIZE steps; MODE is eager, compile or graphs (compiled with mode="reduce-overhead": as CUDA
graphs), then -contiguous or -channels_last, then perhaps -tf32 or -mixed_bfloat16
(autocast) instead of float32; DEVICE is cpu or cuda. No metrics; the batch lies on
the device. On a GPU the optimizer is the fused one. See step_server.
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


def convolution(inputs, filters, size, strides=1, groups=1, activation=None, bias=False):
    parts = [nn.Conv2d(inputs, filters, size, strides, size // 2, groups=groups, bias=bias),
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


def bottleneck(inputs, filters, strides):
    """As Keras has it: the first convolution halves, and all have a bias."""
    outputs = 4 * filters
    path = nn.Sequential(
        convolution(inputs, filters, 1, strides, activation=nn.ReLU(inplace=True), bias=True),
        convolution(filters, filters, 3, activation=nn.ReLU(inplace=True), bias=True),
        convolution(filters, outputs, 1, bias=True))
    shortcut = (None if inputs == outputs else
                convolution(inputs, outputs, 1, strides, bias=True))
    return Block(path, shortcut, nn.ReLU(inplace=True))


def resnet50():
    blocks = [convolution(3, 64, 7, 2, activation=nn.ReLU(inplace=True), bias=True),
              nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for filters, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for i in range(count):
            blocks.append(bottleneck(inputs, filters, 2 if i == 0 and filters > 64 else 1))
            inputs = 4 * filters
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


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


def tutorial():
    return nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(13 * 13 * 32, 64), nn.ReLU(), nn.Linear(64, 10))


class LastStep(nn.Module):
    """The output of the last step of a recurrent layer."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0][:, -1]


def lstm():
    return nn.Sequential(LastStep(nn.LSTM(28, 128, batch_first=True)), nn.Linear(128, 10))


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.layer = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, x):
        return self.layer(x, x, x, need_weights=False)[0]


class MeanOfSteps(nn.Module):
    def forward(self, x):
        return x.mean(dim=1)


def attention():
    dense = nn.Sequential(nn.Linear(128, 512), nn.ReLU(inplace=True), nn.Linear(512, 128))
    return nn.Sequential(Block(SelfAttention(128, 4)), nn.LayerNorm(128, eps=0.001),
                         Block(dense), nn.LayerNorm(128, eps=0.001), MeanOfSteps(),
                         nn.Linear(128, 10))


def sgd(parameters, fused):
    return torch.optim.SGD(parameters, 0.1, momentum=0.9, fused=fused)


def adam(parameters, fused):
    return torch.optim.Adam(parameters, 0.001, fused=fused)


def images_of(channels):
    return lambda size: (channels, size, size)


def steps_of(width):
    return lambda size: (size, width)


# With the shape of an example of a size, and the number of classes.
MODELS = {
    "resnet18": (resnet18, sgd, images_of(3), 1000),
    "resnet50": (resnet50, sgd, images_of(3), 1000),
    "mobilenet_v2": (mobilenet_v2, adam, images_of(3), 1000),
    "tutorial": (tutorial, adam, images_of(1), 10),
    "lstm": (lstm, adam, steps_of(28), 10),
    "attention": (attention, adam, steps_of(128), 10),
}


def set_precision(precision):
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    torch.backends.cudnn.allow_tf32 = precision == "tf32"


def prepare(runner, function):
    """The function as the mode has it run."""
    if runner == "eager":
        return function
    # Compiled code is taken from the cache; what is measured to choose among it
    # is not, since other work may have been beside.
    torch._inductor.config.autotune_local_cache = False
    return torch.compile(function, mode="reduce-overhead" if runner == "graphs" else None)


def main():
    name, mode = sys.argv[1], sys.argv[5]
    size, batch, threads = map(int, sys.argv[2:5])
    device = sys.argv[6] if len(sys.argv) > 6 else "cpu"
    runner, memory, precision = (mode.split("-") + ["float32"])[:3]
    torch.set_num_threads(threads)
    set_precision(precision)
    torch.backends.cudnn.benchmark = True
    make_model, make_optimizer, shape_of, classes = MODELS[name]
    memory_format = getattr(torch, f"{memory}_format" if memory == "contiguous" else memory)
    model = make_model().to(device, memory_format=memory_format).train()
    optimizer = make_optimizer(model.parameters(), fused=True if device == "cuda" else None)
    loss_function = nn.CrossEntropyLoss()
    examples = torch.rand(batch, *shape_of(size)).to(device, memory_format=memory_format)
    labels = torch.randint(classes, (batch,), device=device)

    def loss_of(examples, labels):
        with torch.autocast(device, torch.bfloat16, enabled=precision == "mixed_bfloat16"):
            return loss_function(model(examples), labels)

    run = prepare(runner, loss_of)

    def train_step():
        optimizer.zero_grad()
        loss = run(examples, labels)
        loss.backward()
        optimizer.step()
        return loss

    step_server.serve(train_step, lambda loss: loss.item())


main()
