"""What keras_trajectories.py trains: a case for each optimizer, schedule, loss, regularizer, constraint, metric.

Networks have no kinks, so that rounding stays rounding. Labels are of Fashion-MNIST too:
"ids" of classes, "one_hot" ones, "rows" (how bright ten rows of the image are), a "mask"
(which pixels are bright), "pixels" (which of three classes of brightness each has), "void" (the
same, but 255 at the border), "void ids" (each fifth id is 255) and "tags" (classes of a column of
pixels, by the one beside it).
"""

import dataclasses

import keras
import numpy as np
from keras import layers, losses, metrics, optimizers
from keras.optimizers import schedules


# --- Data and networks -------------------------------------------------------------------------


def features(images):
    """Images of 14 × 14 pixels."""
    return images.reshape(-1, 14, 2, 14, 2, 1).mean(axis=(2, 4))


def words(images):
    """The 14 pixels of a column as ids; those of 0 are masked."""
    return levels(features(images)[:, :, 6, 0], 12).astype(np.float32)


def levels(brightness, count):
    return np.minimum(brightness * count, count - 1).astype(np.int32)


def make_labels(kind, images, ids):
    if kind == "ids":
        return ids
    if kind == "void ids":
        return np.where(np.arange(len(ids)) % 5 == 0, 255, ids)
    if kind == "one_hot":
        return np.eye(10, dtype=np.float32)[ids]
    if kind == "rows":
        # From 0.5 on, since some losses divide by labels.
        return 0.5 + features(images)[:, 2:12].mean(axis=(2, 3))
    if kind == "pixels":
        return levels(features(images)[..., 0], 3)
    if kind == "void":
        pixels = levels(features(images)[..., 0], 3)
        pixels[:, :2] = pixels[:, -3:] = 255
        return pixels
    if kind == "tags":
        return levels(features(images)[:, :, 8, 0], 4)
    assert kind == "mask", kind
    return (features(images) > 0.5).astype(np.float32)


def classifier(activation=None, **config):
    return keras.Sequential(
        [
            keras.Input((14, 14, 1)),
            layers.Conv2D(6, 3, strides=2, activation="tanh", **config),
            layers.Flatten(),
            layers.Dense(16, activation="tanh", **config),
            layers.Dense(10, activation=activation),
        ]
    )


def softmax():
    return classifier("softmax")


def sigmoid():
    return classifier("sigmoid")


def softplus():
    return classifier("softplus")


def segmenter():
    return keras.Sequential(
        [
            keras.Input((14, 14, 1)),
            layers.Conv2D(6, 3, padding="same", activation="tanh"),
            layers.Conv2D(1, 3, padding="same", activation="sigmoid"),
        ]
    )


def pixel_classifier(activation="softmax"):
    return keras.Sequential(
        [
            keras.Input((14, 14, 1)),
            layers.Conv2D(6, 3, padding="same", activation="tanh"),
            layers.Conv2D(3, 3, padding="same", activation=activation),
        ]
    )


def pixel_logits():
    return pixel_classifier(None)


def tagger():
    return keras.Sequential(
        [
            keras.Input((14,)),
            layers.Embedding(12, 8, mask_zero=True),
            layers.LSTM(12, return_sequences=True),
            layers.Dense(4),
        ]
    )


# --- The cases ---------------------------------------------------------------------------------


@dataclasses.dataclass
class Case:
    """A model to train; what constructs an object is called anew for each training."""

    kind: str
    labels: str = "ids"
    network: object = classifier
    loss: object = lambda: losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer: object = lambda: optimizers.SGD(0.05, 0.9)
    metrics: object = lambda: []
    weighted_metrics: object = lambda: []
    # Whether examples have weights, and the weights of classes.
    sample_weight: bool = False
    class_weight: dict = None
    # Of the images.
    features: object = features
    # Keys of the job beside the usual ones.
    job: dict = dataclasses.field(default_factory=dict)


def optimizer_cases():
    def case(make, job=None):
        return Case("optimizer", optimizer=make, job=job or {})

    o = optimizers
    excluded = {"AdamW": {"learning_rate": 0.01, "weight_decay": 0.5, "exclude_from_weight_decay": ["bias"]}}
    return {
        "SGD": case(lambda: o.SGD(0.1)),
        "SGD momentum": case(lambda: o.SGD(0.05, 0.9)),
        "SGD nesterov": case(lambda: o.SGD(0.05, 0.9, nesterov=True)),
        "SGD weight_decay": case(lambda: o.SGD(0.05, 0.9, weight_decay=0.05)),
        "SGD clipnorm": case(lambda: o.SGD(0.1, clipnorm=0.1)),
        "SGD global_clipnorm": case(lambda: o.SGD(0.1, 0.9, nesterov=True, global_clipnorm=0.3)),
        "SGD clipvalue": case(lambda: o.SGD(0.1, 0.9, clipvalue=0.01)),
        "SGD use_ema": case(lambda: o.SGD(0.05, 0.9, use_ema=True, ema_momentum=0.9)),
        "SGD gradient_accumulation_steps": case(
            lambda: o.SGD(
                schedules.ExponentialDecay(0.1, 20, 0.7), 0.9, gradient_accumulation_steps=4
            )
        ),
        "SGD accumulation, use_ema": case(
            lambda: o.SGD(
                0.1, 0.9, weight_decay=0.05, use_ema=True, ema_momentum=0.9,
                ema_overwrite_frequency=5, gradient_accumulation_steps=3,
            )
        ),
        "Adam": case(lambda: o.Adam(0.01)),
        "LossScaleOptimizer": case(lambda: o.LossScaleOptimizer(o.Adam(0.01), initial_scale=1024.0)),
        "Adam amsgrad": case(lambda: o.Adam(0.01, beta_1=0.8, beta_2=0.9, amsgrad=True)),
        "Adam epsilon": case(lambda: o.Adam(0.01, epsilon=1e-3)),
        "Adam weight_decay": case(lambda: o.Adam(0.01, weight_decay=0.5)),
        "Adam clipnorm": case(lambda: o.Adam(0.01, clipnorm=0.01)),
        "Adam global_clipnorm": case(lambda: o.Adam(0.01, amsgrad=True, global_clipnorm=0.3)),
        "Adam clipvalue": case(lambda: o.Adam(0.01, clipvalue=1e-3)),
        "Adam ema_overwrite_frequency": case(
            lambda: o.Adam(0.01, use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=7)
        ),
        "Adam gradient_accumulation_steps": case(
            lambda: o.Adam(0.02, clipnorm=0.01, gradient_accumulation_steps=3)
        ),
        "AdamW": case(lambda: o.AdamW(0.01)),
        "AdamW amsgrad": case(lambda: o.AdamW(0.01, weight_decay=0.5, beta_2=0.9, amsgrad=True)),
        "AdamW exclude_from_weight_decay": case(adamw_without_biases, {"optimizer": excluded}),
        "Adamax": case(lambda: o.Adamax(0.01)),
        "Adamax weight_decay": case(lambda: o.Adamax(0.01, weight_decay=0.5, clipnorm=0.1)),
        "Nadam": case(lambda: o.Nadam(0.01)),
        "Nadam weight_decay": case(lambda: o.Nadam(0.01, beta_1=0.8, weight_decay=0.5)),
        "RMSprop": case(lambda: o.RMSprop(0.003)),
        "RMSprop momentum": case(lambda: o.RMSprop(0.001, momentum=0.9)),
        "RMSprop centered": case(lambda: o.RMSprop(0.003, centered=True)),
        "RMSprop centered, momentum": case(lambda: o.RMSprop(0.001, momentum=0.9, epsilon=1e-3, centered=True)),
        "RMSprop weight_decay": case(lambda: o.RMSprop(0.003, rho=0.8, weight_decay=0.5)),
        "Adagrad": case(lambda: o.Adagrad(0.05)),
        "Adagrad weight_decay": case(lambda: o.Adagrad(0.05, 0.5, weight_decay=0.1)),
        "Adadelta": case(lambda: o.Adadelta(1.0)),
        "Adadelta weight_decay": case(lambda: o.Adadelta(1.0, rho=0.8, weight_decay=0.01)),
        "Ftrl": case(lambda: o.Ftrl(0.1)),
        "Ftrl l1": case(lambda: o.Ftrl(0.3, l1_regularization_strength=1e-4, beta=0.1)),
        "Ftrl l2, shrinkage": case(
            lambda: o.Ftrl(
                0.3, learning_rate_power=-0.4, initial_accumulator_value=0.2,
                l2_regularization_strength=1e-3, l2_shrinkage_regularization_strength=1e-3,
            )
        ),
        "Ftrl weight_decay": case(lambda: o.Ftrl(0.1, weight_decay=0.05)),
        "Lamb": case(lambda: o.Lamb(0.01)),
        "Lamb weight_decay": case(lambda: o.Lamb(0.01, weight_decay=0.1, global_clipnorm=0.5)),
        "Lion": case(lambda: o.Lion(0.001)),
        "Lion weight_decay": case(lambda: o.Lion(0.001, beta_1=0.5, weight_decay=0.5)),
        "Muon": case(lambda: o.Muon(0.01)),
        "Muon nesterov off": case(lambda: o.Muon(0.01, nesterov=False, momentum=0.8, weight_decay=0.1)),
        "Muon clipnorm": case(lambda: o.Muon(0.01, adam_lr_ratio=0.5, rms_rate=None, clipnorm=0.1)),
    }  # fmt: skip


def adamw_without_biases():
    """Keras' files lack what is excluded: the job says it."""
    optimizer = optimizers.AdamW(0.01, weight_decay=0.5)
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    return optimizer


def schedule_cases():
    def case(make, optimizer=lambda rate: optimizers.SGD(rate, 0.9)):
        return Case("schedule", optimizer=lambda: optimizer(make()))

    s = schedules
    return {
        "ExponentialDecay": case(lambda: s.ExponentialDecay(0.1, 20, 0.5)),
        "ExponentialDecay staircase": case(lambda: s.ExponentialDecay(0.1, 20, 0.5, staircase=True)),
        "ExponentialDecay, Adam": case(lambda: s.ExponentialDecay(0.02, 30, 0.5), optimizers.Adam),
        "InverseTimeDecay": case(lambda: s.InverseTimeDecay(0.1, 10, 0.5)),
        "InverseTimeDecay staircase": case(lambda: s.InverseTimeDecay(0.1, 10, 0.5, staircase=True)),
        "PiecewiseConstantDecay": case(lambda: s.PiecewiseConstantDecay([10, 60], [0.1, 0.03, 0.01])),
        "PolynomialDecay": case(lambda: s.PolynomialDecay(0.1, 70, 1e-3)),
        "PolynomialDecay cycle": case(lambda: s.PolynomialDecay(0.1, 32, 1e-3, power=2.0, cycle=True)),
        # In a graph Keras multiplies by 1/30, so that its fourth period begins at step 90, not 91.
        "PolynomialDecay cycle of 30": case(
            lambda: s.PolynomialDecay(0.1, 30, 1e-3, power=2.0, cycle=True)
        ),
        "CosineDecay": case(lambda: s.CosineDecay(0.1, 80)),
        "CosineDecay warmup": case(
            lambda: s.CosineDecay(0.0, 60, alpha=0.1, warmup_target=0.1, warmup_steps=20)
        ),
        "CosineDecay warmup, AdamW": case(
            lambda: s.CosineDecay(0.0, 60, alpha=0.1, warmup_target=0.02, warmup_steps=20),
            lambda rate: optimizers.AdamW(rate, weight_decay=0.5),
        ),
        "CosineDecayRestarts": case(lambda: s.CosineDecayRestarts(0.1, 15)),
        "CosineDecayRestarts t_mul, m_mul": case(
            lambda: s.CosineDecayRestarts(0.1, 15, t_mul=1.5, m_mul=0.8, alpha=0.05)
        ),
    }


def loss_cases():
    def case(labels, network, make, rate=0.05, **job):
        return Case("loss", labels, network, make, lambda: optimizers.SGD(rate, 0.9), job=job)

    # Keras' files lack what these have: the job says it.
    axis, delta = {"CosineSimilarity": {"axis": 2}}, {"Huber": {"delta": 0.2}}
    x = losses
    return {
        "SparseCategoricalCrossentropy logits": case(
            "ids", classifier, lambda: x.SparseCategoricalCrossentropy(from_logits=True)
        ),
        "SparseCategoricalCrossentropy": case("ids", softmax, lambda: "sparse_categorical_crossentropy"),
        "SparseCategoricalCrossentropy pixels": case(
            "pixels", pixel_logits, lambda: x.SparseCategoricalCrossentropy(from_logits=True)
        ),
        "SparseCategoricalCrossentropy ignore_class": case(
            "void", pixel_classifier, lambda: x.SparseCategoricalCrossentropy(ignore_class=255)
        ),
        "SparseCategoricalCrossentropy tags": dataclasses.replace(
            case("tags", tagger, lambda: x.SparseCategoricalCrossentropy(from_logits=True), 0.2),
            features=words,
        ),
        "CategoricalCrossentropy logits": case(
            "one_hot", classifier, lambda: x.CategoricalCrossentropy(from_logits=True)
        ),
        "CategoricalCrossentropy": case("one_hot", softmax, lambda: "categorical_crossentropy"),
        "CategoricalCrossentropy label_smoothing": case(
            "one_hot", softmax, lambda: x.CategoricalCrossentropy(label_smoothing=0.1)
        ),
        "BinaryCrossentropy logits": case(
            "one_hot", classifier, lambda: x.BinaryCrossentropy(from_logits=True), 0.5
        ),
        "BinaryCrossentropy": case("one_hot", sigmoid, lambda: "binary_crossentropy", 0.5),
        "BinaryCrossentropy label_smoothing": case(
            "mask", segmenter, lambda: x.BinaryCrossentropy(label_smoothing=0.1), 0.5
        ),
        "BinaryFocalCrossentropy": case("one_hot", sigmoid, lambda: x.BinaryFocalCrossentropy(), 0.5),
        "BinaryFocalCrossentropy logits": case(
            "one_hot", classifier, lambda: x.BinaryFocalCrossentropy(from_logits=True, gamma=1.5), 0.5
        ),
        "BinaryFocalCrossentropy balanced": case(
            "mask", segmenter,
            lambda: x.BinaryFocalCrossentropy(apply_class_balancing=True, label_smoothing=0.1), 0.5,
        ),
        "CategoricalFocalCrossentropy": case("one_hot", softmax, lambda: x.CategoricalFocalCrossentropy(), 0.2),
        "CategoricalFocalCrossentropy logits": case(
            "one_hot", classifier,
            lambda: x.CategoricalFocalCrossentropy(from_logits=True, alpha=0.5, label_smoothing=0.1), 0.2,
        ),
        "CategoricalHinge": case("one_hot", classifier, lambda: x.CategoricalHinge()),
        "Hinge": case("one_hot", classifier, lambda: x.Hinge()),
        "SquaredHinge": case("one_hot", classifier, lambda: x.SquaredHinge()),
        "KLDivergence": case("one_hot", softmax, lambda: x.KLDivergence()),
        "KLDivergence rows": case("rows", softplus, lambda: x.KLDivergence(), 0.01),
        "Poisson": case("rows", softplus, lambda: x.Poisson()),
        "CosineSimilarity": case("rows", classifier, lambda: x.CosineSimilarity(), 0.01),
        "CosineSimilarity axis": case("mask", segmenter, lambda: x.CosineSimilarity(axis=2), loss=axis),
        "Huber": case("rows", classifier, lambda: x.Huber(0.2), loss=delta),
        "LogCosh": case("rows", classifier, lambda: x.LogCosh()),
        "MeanAbsoluteError": case("rows", classifier, lambda: x.MeanAbsoluteError()),
        "MeanAbsolutePercentageError": case(
            "rows", classifier, lambda: x.MeanAbsolutePercentageError(), 5e-4
        ),
        "MeanSquaredError": case("rows", classifier, lambda: "mse"),
        "MeanSquaredLogarithmicError": case("rows", softplus, lambda: x.MeanSquaredLogarithmicError(), 0.2),
        "Dice": case("mask", segmenter, lambda: x.Dice()),
        "Dice axis": case("mask", segmenter, lambda: x.Dice(axis=[1, 2, 3])),
        "Tversky": case("one_hot", softmax, lambda: x.Tversky(alpha=0.3, beta=0.7)),
        "Tversky axis": case("mask", segmenter, lambda: x.Tversky(alpha=0.7, beta=0.3, axis=[1, 2])),
    }  # fmt: skip


def regularizer_cases():
    kernel, both = ["kernel_regularizer"], ["kernel_regularizer", "bias_regularizer"]
    outputs = ["activity_regularizer"]

    def case(names, make, optimizer=lambda: optimizers.SGD(0.05, 0.9)):
        def network():
            return classifier(**{name: make() for name in names})

        return Case("regularizer", network=network, optimizer=optimizer)

    r = keras.regularizers
    return {
        "L1": case(kernel, lambda: r.L1(1e-3)),
        "L2": case(kernel, lambda: "l2"),
        "L1L2": case(both, lambda: r.L1L2(1e-3, 1e-2)),
        "L2, Adam": case(both, lambda: r.L2(0.02), lambda: optimizers.Adam(0.01)),
        "L1 of outputs": case(outputs, lambda: r.L1(1e-3)),
        "L2 of outputs": case(outputs, lambda: "l2"),
        "L1L2 of outputs, Adam": case(outputs, lambda: r.L1L2(1e-3, 1e-3), lambda: optimizers.Adam(0.01)),
    }


def constraint_cases():
    kernel, both = ["kernel_constraint"], ["kernel_constraint", "bias_constraint"]

    def case(names, make, optimizer=lambda: optimizers.SGD(0.05, 0.9)):
        def network():
            return classifier(**{name: make() for name in names})

        return Case("constraint", network=network, optimizer=optimizer)

    c = keras.constraints
    return {
        "MaxNorm": case(both, lambda: c.MaxNorm(0.5)),
        "MaxNorm axes": case(kernel, lambda: c.MaxNorm(2.0, axis=[0, 1])),
        "MinMaxNorm": case(kernel, lambda: c.MinMaxNorm(0.5, 0.75, axis=-1)),
        "MinMaxNorm rate, Adam": case(
            kernel, lambda: c.MinMaxNorm(0.5, 1.0, rate=0.5), lambda: optimizers.Adam(0.01)
        ),
        "NonNeg": case(both, lambda: c.NonNeg()),
        "UnitNorm": case(kernel, lambda: c.UnitNorm()),
        "UnitNorm, Adam": case(kernel, lambda: c.UnitNorm(axis=[0, 1]), lambda: optimizers.Adam(0.01)),
    }  # fmt: skip


def metric_cases():
    def case(labels, network, loss, make):
        return Case("metrics", labels, network, lambda: loss, lambda: optimizers.Adam(0.005), make)

    return {
        "metrics of ids": case("ids", softmax, "sparse_categorical_crossentropy", of_ids),
        "metrics of one_hot": case("one_hot", softmax, "categorical_crossentropy", of_one_hot),
        "metrics of a mask": case("mask", segmenter, "binary_crossentropy", of_mask),
        "metrics of rows": case("rows", softplus, "mse", of_rows),
        "metrics of pixels": case("pixels", pixel_classifier, "sparse_categorical_crossentropy", of_pixels),
        "metrics of ignored pixels": case(
            "void", pixel_classifier, losses.SparseCategoricalCrossentropy(ignore_class=255), of_void
        ),
        "metrics of tags": dataclasses.replace(
            case("tags", tagger, losses.SparseCategoricalCrossentropy(from_logits=True), of_tags),
            # Ids that repeat take other steps with Adam there.
            features=words, optimizer=lambda: optimizers.SGD(0.2, 0.9),
        ),
    }


def sample_weight_cases():
    def case(**what):
        return Case("metrics", optimizer=lambda: optimizers.Adam(0.005), sample_weight=True, **what)

    return {
        "sample_weight": case(metrics=lambda: ["accuracy"]),
        "sample_weight of rows": case(
            labels="rows", network=softplus, loss=lambda: "mae", metrics=lambda: ["mse"]
        ),
        "sample_weight in the divisor": case(
            loss=lambda: losses.SparseCategoricalCrossentropy(True, reduction="mean_with_sample_weight")
        ),
        "sample_weight in the divisor, rows": case(
            labels="rows", network=softplus, loss=lambda: losses.Huber(reduction="mean_with_sample_weight")
        ),
        "class_weight in the divisor": Case(
            "metrics", class_weight={0: 0.5, 3: 2.0},
            loss=lambda: losses.SparseCategoricalCrossentropy(True, reduction="mean_with_sample_weight"),
        ),
    }  # fmt: skip


def weighted_metric_cases():
    def case(**what):
        return Case("metrics", optimizer=lambda: optimizers.Adam(0.005), **what)

    return {
        "weighted metrics of ids": case(
            network=softmax, loss=lambda: "sparse_categorical_crossentropy", sample_weight=True,
            metrics=lambda: ["accuracy"], weighted_metrics=of_ids,
        ),
        "weighted metrics of one_hot": case(
            labels="one_hot", network=softmax, loss=lambda: "categorical_crossentropy", sample_weight=True,
            weighted_metrics=of_one_hot,
        ),
        "weighted metrics of rows": case(
            labels="rows", network=softplus, loss=lambda: "mse", sample_weight=True, weighted_metrics=of_rows
        ),
        "weighted metrics of pixels": case(
            labels="pixels", network=pixel_classifier, loss=lambda: "sparse_categorical_crossentropy",
            sample_weight=True, metrics=lambda: ["accuracy"], weighted_metrics=of_ids_of_pixels,
        ),
        "weighted metrics of ignored pixels": case(
            labels="void", network=pixel_classifier,
            loss=lambda: losses.SparseCategoricalCrossentropy(ignore_class=255),
            sample_weight=True, weighted_metrics=of_void,
        ),
        "weighted metrics of classes, ignore_class": case(
            labels="void ids", network=softmax,
            loss=lambda: losses.SparseCategoricalCrossentropy(ignore_class=255),
            class_weight={0: 0.5, 3: 2.0}, weighted_metrics=of_void,
        ),
        "weighted metrics of classes": case(
            network=softmax, loss=lambda: "sparse_categorical_crossentropy",
            class_weight={0: 0.5, 3: 2.0}, weighted_metrics=of_ids,
        ),
    }  # fmt: skip


def of_ids():
    m = metrics
    return [
        "accuracy",
        m.SparseCategoricalAccuracy(name="SparseCategoricalAccuracy"),
        m.SparseTopKCategoricalAccuracy(k=3, name="SparseTopKCategoricalAccuracy"),
        m.SparseCategoricalCrossentropy(name="SparseCategoricalCrossentropy"),
        m.IoU(num_classes=10, target_class_ids=[0, 3], sparse_y_pred=False, name="IoU"),
        m.MeanIoU(num_classes=10, sparse_y_pred=False, name="MeanIoU"),
    ]


def of_ids_of_pixels():
    m = metrics
    return [
        "accuracy",
        m.SparseTopKCategoricalAccuracy(k=2, name="SparseTopKCategoricalAccuracy"),
        m.SparseCategoricalCrossentropy(name="SparseCategoricalCrossentropy"),
    ]


def of_pixels():
    m = metrics
    return [
        *of_ids_of_pixels(),
        m.MeanIoU(num_classes=3, sparse_y_pred=False, name="MeanIoU"),
        m.IoU(num_classes=3, target_class_ids=[1, 2], sparse_y_pred=False, name="IoU"),
    ]


def of_void():
    m = metrics
    return ["accuracy", m.SparseCategoricalCrossentropy(ignore_class=255, name="SparseCategoricalCrossentropy")]


def of_tags():
    m = metrics
    return [
        "accuracy",
        m.SparseTopKCategoricalAccuracy(k=2, name="SparseTopKCategoricalAccuracy"),
        m.SparseCategoricalCrossentropy(from_logits=True, name="SparseCategoricalCrossentropy"),
    ]


def of_one_hot():
    m = metrics
    return [
        "accuracy",
        m.CategoricalAccuracy(name="CategoricalAccuracy"),
        m.TopKCategoricalAccuracy(k=2, name="TopKCategoricalAccuracy"),
        m.CategoricalCrossentropy(label_smoothing=0.1, name="CategoricalCrossentropy"),
        m.CategoricalHinge(name="CategoricalHinge"),
        m.KLDivergence(name="KLDivergence"),
        m.OneHotIoU(num_classes=10, target_class_ids=[1, 2], name="OneHotIoU"),
        m.OneHotMeanIoU(num_classes=10, name="OneHotMeanIoU"),
        m.F1Score(average="macro", name="F1Score"),
        m.FBetaScore(average="weighted", beta=2.0, threshold=0.4, name="FBetaScore"),
        m.Precision(name="Precision"),
        m.Precision(top_k=2, class_id=1, name="Precision top_k"),
        m.Recall(thresholds=0.3, name="Recall"),
        m.AUC(curve="PR", name="AUC PR"),
        m.AUC(curve="PRGAIN", num_thresholds=50, name="AUC PRGAIN"),
        m.SensitivityAtSpecificity(0.9, name="SensitivityAtSpecificity"),
        m.SpecificityAtSensitivity(0.8, name="SpecificityAtSensitivity"),
        m.PrecisionAtRecall(0.6, name="PrecisionAtRecall"),
        m.RecallAtPrecision(0.6, class_id=1, name="RecallAtPrecision"),
    ]


def of_mask():
    m = metrics
    return [
        "accuracy",
        m.BinaryAccuracy(threshold=0.4, name="BinaryAccuracy"),
        m.BinaryCrossentropy(name="BinaryCrossentropy"),
        m.BinaryIoU(name="BinaryIoU"),
        m.TruePositives(name="TruePositives"),
        m.TrueNegatives(name="TrueNegatives"),
        m.FalsePositives(thresholds=0.6, name="FalsePositives"),
        m.FalseNegatives(name="FalseNegatives"),
        m.AUC(name="AUC ROC"),
        m.AUC(summation_method="majoring", thresholds=[0.2, 0.7, 0.9], name="AUC majoring"),
    ]


def of_rows():
    m = metrics
    return [
        m.RootMeanSquaredError(name="RootMeanSquaredError"),
        m.R2Score(name="R2Score"),
        m.CosineSimilarity(name="CosineSimilarity"),
        m.LogCoshError(name="LogCoshError"),
        m.MeanAbsoluteError(name="MeanAbsoluteError"),
        m.MeanAbsolutePercentageError(name="MeanAbsolutePercentageError"),
        m.MeanSquaredError(name="MeanSquaredError"),
        m.MeanSquaredLogarithmicError(name="MeanSquaredLogarithmicError"),
        m.Poisson(name="Poisson"),
        m.Hinge(name="Hinge"),
        m.SquaredHinge(name="SquaredHinge"),
    ]


CASES = (
    optimizer_cases()
    | schedule_cases()
    | loss_cases()
    | regularizer_cases()
    | constraint_cases()
    | metric_cases()
    | sample_weight_cases()
    | weighted_metric_cases()
)
