"""What Keras' optimizers compute: a part of keras_expected.py, which sets it up."""

import keras
import numpy as np


def numbers(array):
    """A flat list with the digits that float32 needs."""
    return [float(f"{x:.8g}") for x in np.asarray(array, np.float64).ravel()]


INITIAL = [0.5, -1.0, 2.0, 0.0, 1e-3, -3.0]


def element_gradients(steps):
    """Of 6 elements, by orders of magnitude apart, for each of `steps` updates."""
    return [
        [0.1 * np.sin(1.3 * t + e) * (10.0 ** (e - 3)) for e in range(6)]
        for t in range(steps)
    ]


def optimizer_case(
    class_name, config, steps=10, initial=INITIAL, shape=(6,), name="variable"
):
    """Values of a variable of 6 elements after each of `steps` updates."""
    initial = np.array(initial, np.float32).reshape(shape)
    gradients = np.array(element_gradients(steps), np.float32)
    arguments = dict(config)
    excluded = arguments.pop("exclude_from_weight_decay", None)
    optimizer = getattr(keras.optimizers, class_name)(**arguments)
    if excluded is not None:
        optimizer.exclude_from_weight_decay(var_names=excluded)
    variable = keras.Variable(initial, name=name)
    optimizer.build([variable])
    values = []
    averages = []
    accumulators = []
    for gradient in gradients.reshape(steps, *shape):
        optimizer.apply_gradients([(keras.ops.convert_to_tensor(gradient), variable)])
        values.append(numbers(variable.numpy()))
        if optimizer.use_ema:
            averages.append(numbers(optimizer._model_variables_moving_average[0].numpy()))
        if optimizer.gradient_accumulation_steps:
            accumulators.append(numbers(optimizer._accumulated_gradients[0].numpy()))
    return {
        "class_name": class_name,
        "config": config,
        "name": name,
        "shape": shape,
        "initial": numbers(initial),
        "gradients": [numbers(g) for g in gradients],
        "values": values,
        **({"averages": averages} if averages else {}),
        **({"accumulators": accumulators} if accumulators else {}),
    }


DECAYED = [
    "Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Lamb", "Lion", "Nadam",
    "RMSprop", "SGD",
]  # fmt: skip


def optimizers():
    return [
        optimizer_case("SGD", {}),
        optimizer_case("SGD", {"learning_rate": 0.1, "momentum": 0.9}),
        optimizer_case(
            "SGD", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True}
        ),
        optimizer_case("Adam", {}),
        optimizer_case(
            "Adam",
            {"learning_rate": 0.01, "beta_1": 0.8, "beta_2": 0.99, "epsilon": 1e-3},
        ),
        optimizer_case("Adam", {"amsgrad": True}),
        optimizer_case("RMSprop", {}),
        optimizer_case("RMSprop", {"learning_rate": 0.01, "centered": True}),
        optimizer_case("RMSprop", {"rho": 0.8, "momentum": 0.5, "epsilon": 1e-3}),
        optimizer_case("RMSprop", {"momentum": 0.9, "centered": True}),
        optimizer_case("Adagrad", {}),
        optimizer_case(
            "Adagrad",
            {"learning_rate": 0.1, "initial_accumulator_value": 0.5, "epsilon": 1e-3},
        ),
        optimizer_case("Adadelta", {}),
        optimizer_case("Adadelta", {"learning_rate": 1.0, "rho": 0.8, "epsilon": 1e-3}),
        optimizer_case("Adamax", {}),
        optimizer_case(
            "Adamax",
            {"learning_rate": 0.01, "beta_1": 0.8, "beta_2": 0.9, "epsilon": 1e-3},
        ),
        optimizer_case("Nadam", {}),
        optimizer_case(
            "Nadam",
            {"learning_rate": 0.01, "beta_1": 0.8, "beta_2": 0.99, "epsilon": 1e-3},
        ),
        optimizer_case("Lion", {}),
        optimizer_case("Lion", {"learning_rate": 0.01, "beta_1": 0.5, "beta_2": 0.8}),
        optimizer_case("Ftrl", {}),
        optimizer_case(
            "Ftrl", {"learning_rate": 0.1, "l1_regularization_strength": 0.3}
        ),
        optimizer_case(
            "Ftrl",
            {
                "learning_rate": 0.1,
                "learning_rate_power": -0.3,
                "initial_accumulator_value": 0.5,
                "l1_regularization_strength": 0.01,
                "l2_regularization_strength": 0.1,
                "l2_shrinkage_regularization_strength": 0.05,
                "beta": 0.5,
            },
        ),
        optimizer_case("Lamb", {}),
        optimizer_case(
            "Lamb",
            {"learning_rate": 0.1, "beta_1": 0.8, "beta_2": 0.99, "epsilon": 1e-3},
        ),
        optimizer_case("Lamb", {"learning_rate": 0.05}, initial=[0.0] * 6),
        optimizer_case("Muon", {}),
        optimizer_case("Muon", {}, shape=(2, 3)),
        optimizer_case("Muon", {"nesterov": False}, shape=(3, 2)),
        optimizer_case("Muon", {"learning_rate": 0.1, "ns_steps": 2}, shape=(1, 6)),
        optimizer_case(
            "Muon",
            {
                "learning_rate": 0.1,
                "weight_decay": 0.5,
                "muon_a": 3.0,
                "muon_b": -3.5,
                "muon_c": 1.5,
                "momentum": 0.5,
                "rms_rate": None,
            },
            shape=(3, 2),
        ),
        optimizer_case(
            "Muon",
            {"learning_rate": 0.1, "weight_decay": None, "adam_weight_decay": None},
            shape=(2, 3),
        ),
        optimizer_case("Muon", {}, shape=(3, 2), initial=[0.0] * 6),
        optimizer_case(
            "Muon",
            {
                "learning_rate": 0.1,
                "adam_lr_ratio": 0.5,
                "adam_weight_decay": 0.1,
                "adam_beta_1": 0.8,
                "adam_beta_2": 0.99,
                "epsilon": 1e-3,
            },
            shape=(2, 3),
            name="Embeddings",
        ),
        optimizer_case(
            "Muon",
            {"exclude_embeddings": False},
            shape=(2, 3),
            name="embeddings",
        ),
        optimizer_case(
            "Muon",
            {"exclude_layers": ["logits", "head"], "adam_weight_decay": None},
            shape=(2, 3),
            name="my_head",
        ),
        optimizer_case("Muon", {}, shape=(1, 2, 3)),
        *(
            optimizer_case(name, {"learning_rate": 0.01, "weight_decay": 5.0})
            for name in DECAYED
        ),
        optimizer_case("SGD", {"weight_decay": 0.0}),
        optimizer_case("SGD", {"weight_decay": 0.01, "momentum": 0.5}),
        optimizer_case("Adam", {"weight_decay": 0.01}),
        *(
            optimizer_case(
                "SGD",
                {"weight_decay": 5.0, "exclude_from_weight_decay": excluded},
                name=name,
            )
            for excluded in ([], ["gamma", "bia"])
            for name in ("kernel", "bias")
        ),
        optimizer_case(
            "Muon",
            {"weight_decay": 5.0, "exclude_from_weight_decay": ["kernel"]},
            shape=(2, 3),
            name="kernel",
        ),
        optimizer_case("AdamW", {}),
        optimizer_case(
            "AdamW",
            {
                "learning_rate": 0.01,
                "weight_decay": 25.0,
                "beta_1": 0.8,
                "beta_2": 0.99,
                "epsilon": 1e-3,
                "amsgrad": True,
            },
        ),
        *average_cases(),
        *accumulation_cases(),
    ]


def average_cases():
    """Of use_ema."""

    def case(class_name, config, **variable):
        return optimizer_case(class_name, {**config, "use_ema": True}, **variable)

    momentum = {"learning_rate": 0.1, "momentum": 0.9}
    return [
        case("SGD", {"learning_rate": 0.1}),
        case("SGD", {**momentum, "ema_momentum": 0.9, "ema_overwrite_frequency": 3}),
        case("SGD", {**momentum, "ema_momentum": 0.5, "ema_overwrite_frequency": 0}),
        case("SGD", {**momentum, "ema_momentum": 1.0, "ema_overwrite_frequency": 4}),
        case("Adam", {"learning_rate": 0.01}),
        case(
            "Adam",
            {
                "learning_rate": 0.1,
                "weight_decay": 0.5,
                "amsgrad": True,
                "ema_momentum": 0.75,
                "ema_overwrite_frequency": 2,
            },
        ),
        case("Lamb", {"learning_rate": 0.1, "ema_momentum": 0.5, "ema_overwrite_frequency": 4}),
        case(
            "Muon",
            {"learning_rate": 0.1, "ema_momentum": 0.5, "ema_overwrite_frequency": 3},
            shape=(2, 3),
        ),
    ]


def accumulation_cases():
    """Of gradient_accumulation_steps."""

    def case(class_name, steps, config, **variable):
        config = {"learning_rate": 0.1, **config, "gradient_accumulation_steps": steps}
        return optimizer_case(class_name, config, **variable)

    return [
        case("SGD", 4, {"momentum": 0.9, "weight_decay": 0.5}),
        case("Adam", 3, {"use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 2}),
        case("Adagrad", 2, {"use_ema": True}),
        case("Nadam", 3, {}),
        case("Lamb", 2, {"weight_decay": 0.5}),
        case("Muon", 3, {"use_ema": True, "weight_decay": 0.5}, shape=(2, 3)),
    ]


def schedule_case(class_name, config):
    """The learning rates at some steps."""
    schedule = getattr(keras.optimizers.schedules, class_name)(**config)
    steps = [0, 1, 2, 9, 10, 11, 100]
    return {
        "class_name": class_name,
        "config": config,
        "steps": steps,
        "values": [numbers(schedule(step))[0] for step in steps],
    }


def schedules():
    decay = {"initial_learning_rate": 0.1, "decay_steps": 10, "decay_rate": 0.96}
    span = {"initial_learning_rate": 0.1, "decay_steps": 10}
    restarts = {"initial_learning_rate": 0.1, "first_decay_steps": 4}
    return [
        schedule_case("ExponentialDecay", decay),
        schedule_case("ExponentialDecay", {**decay, "staircase": True}),
        schedule_case("ExponentialDecay", {**decay, "decay_steps": 2.5}),
        schedule_case("InverseTimeDecay", decay),
        schedule_case("InverseTimeDecay", {**decay, "staircase": True}),
        schedule_case(
            "PiecewiseConstantDecay",
            {"boundaries": [1, 10], "values": [1.0, 0.5, 0.125]},
        ),
        schedule_case("PiecewiseConstantDecay", {"boundaries": [2], "values": [1.0, 0.5]}),
        schedule_case("PolynomialDecay", span),
        schedule_case("PolynomialDecay", {**span, "power": 2.5, "cycle": True}),
        schedule_case("PolynomialDecay", {**span, "end_learning_rate": 0.2}),
        schedule_case("CosineDecay", span),
        schedule_case("CosineDecay", {**span, "alpha": 0.3}),
        schedule_case(
            "CosineDecay", {**span, "warmup_target": 0.4, "warmup_steps": 5}
        ),
        schedule_case("CosineDecayRestarts", restarts),
        schedule_case("CosineDecayRestarts", {**restarts, "t_mul": 1.0, "m_mul": 0.5}),
        schedule_case(
            "CosineDecayRestarts",
            {**restarts, "t_mul": 1.5, "m_mul": 0.9, "alpha": 0.1},
        ),
    ]


def clipping_case(config):
    """Two gradients as they are after clipping: a step of SGD from zeros."""
    gradients = [
        np.array([0.3, -2.0, 5.0, 0.0], np.float32),
        np.array([-0.1, 0.7], np.float32),
    ]
    optimizer = keras.optimizers.SGD(learning_rate=1.0, **config)
    variables = [keras.Variable(np.zeros_like(g)) for g in gradients]
    optimizer.build(variables)
    optimizer.apply_gradients(
        [(keras.ops.convert_to_tensor(g), v) for g, v in zip(gradients, variables)]
    )
    return {
        "config": config,
        "gradients": [numbers(g) for g in gradients],
        "clipped": [numbers(-v.numpy()) for v in variables],
    }


def clipping():
    return [
        clipping_case({}),
        clipping_case({"clipvalue": 0.5}),
        clipping_case({"clipnorm": 1.5}),
        clipping_case({"clipnorm": 0.25}),
        clipping_case({"global_clipnorm": 2.0}),
        clipping_case({"global_clipnorm": 20.0}),
    ]
