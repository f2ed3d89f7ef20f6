"""The tutorial CNN on Fashion-MNIST under PyTorch.

    pytorch_step.py single EPOCHS
    torchrun --nproc-per-node 2 pytorch_step.py ddp EPOCHS
"""

import time

START = time.time()

import sys  # noqa: E402: the time of the imports counts

import fashion_mnist
import torch
from torch import nn

BATCH_SIZE = fashion_mnist.BATCH_SIZE


def make_model():
    return nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(13 * 13 * 32, 64), nn.ReLU(), nn.Linear(64, 10))


def tensors(images, labels):
    return (torch.from_numpy(images.copy())[:, None].float() / 255,
            torch.from_numpy(labels.copy()).long())


def main():
    strategy, epochs = sys.argv[1], int(sys.argv[2])
    model = network = make_model()
    rank, world_size = 0, 1
    if strategy == "ddp":
        torch.distributed.init_process_group("gloo")
        rank, world_size = torch.distributed.get_rank(), torch.distributed.get_world_size()
        torch.set_num_threads(max(1, torch.get_num_threads() // world_size))
        model = nn.parallel.DistributedDataParallel(network)
    images, labels = tensors(*fashion_mnist.train())
    optimizer = torch.optim.Adam(model.parameters(), fashion_mnist.LEARNING_RATE)
    loss_function = nn.CrossEntropyLoss()
    report = fashion_mnist.Report(START)
    for epoch in range(epochs):
        report.epoch_begins()
        generator = torch.Generator().manual_seed(epoch)
        order = torch.randperm(len(images), generator=generator)[rank::world_size]
        batches = order.split(BATCH_SIZE)
        for step, batch in enumerate(batches):
            optimizer.zero_grad()
            loss_function(model(images[batch]), labels[batch]).backward()
            optimizer.step()
            if rank == 0 and epoch == 0 and step == 0:
                report.first_step()
        if rank == 0:
            report.epoch_ends(len(batches), BATCH_SIZE * world_size)
    if rank == 0:
        images, labels = tensors(*fashion_mnist.test())
        with torch.no_grad():
            report.evaluation((network(images).argmax(1) == labels).float().mean())


main()
