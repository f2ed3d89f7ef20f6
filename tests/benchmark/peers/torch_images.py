"""How fast torchvision's folder behind PyTorch's DataLoader makes batches of JPEGs.

    torch_images.py plain|augmented FOLDER SIDE BATCH_SIZE

As tensorflow_images.py: decoded by PIL or by torchvision's own decoder, with two worker
processes. Prints the rate in images a second of each way as JSON.
"""

import json
import sys
import time

import torch
from torchvision import datasets, io
from torchvision.transforms import v2

WORKERS = 2


def read_by_torchvision(path):
    return io.decode_jpeg(io.read_file(path), mode=io.ImageReadMode.RGB)


LOADERS = {"PIL": datasets.folder.default_loader, "torchvision.io": read_by_torchvision}


def transforms(kind, side):
    to_floats = [v2.ToImage(), v2.ToDtype(torch.float32)]
    if kind == "plain":
        return v2.Compose([v2.Resize((side, side), antialias=False), *to_floats])
    larger = side * 8 // 7
    return v2.Compose([v2.ToImage(), v2.Resize((larger, larger), antialias=False), v2.RandomCrop(side),
                       v2.RandomHorizontalFlip(), v2.RandomAffine(0, scale=(0.8, 1.2),
                                                                  interpolation=v2.InterpolationMode.BILINEAR),
                       v2.ColorJitter(contrast=0.2), v2.ToDtype(torch.float32)])


def rate(dataset, batch_size):
    loader = torch.utils.data.DataLoader(dataset, batch_size, num_workers=WORKERS,
                                         persistent_workers=True)
    for _ in loader:
        pass
    start = time.perf_counter()
    for _ in loader:
        pass
    return len(dataset) / (time.perf_counter() - start)


def main():
    kind, folder, side, batch_size = sys.argv[1:]
    torch.set_num_threads(1)
    print(json.dumps({
        name: rate(datasets.ImageFolder(folder, transforms(kind, int(side)), loader=loader),
                   int(batch_size))
        for name, loader in LOADERS.items()}))


if __name__ == "__main__":
    main()
