"""Models with each loss: a part of keras_expected.py."""

from keras_models import model_case

DENSE = {"Dense": {"units": 5}}
SOFTMAX = {"Dense": {"units": 5, "activation": "softmax"}}
SIGMOID = {"Dense": {"units": 5, "activation": "sigmoid"}}
# Hides the logits behind probabilities from the loss.
HIDDEN = {"Flatten": {}}


def case(name, layers, loss, labels, scale=3.0, shape=(4,), **weights):
    return model_case(name, list(shape), layers, loss, labels, batch=4, scale=scale, **weights)


def loss_cases():
    return [
        *crossentropy_cases(),
        *sparse_rows_cases(),
        *ignored_class_cases(),
        *regression_cases(),
        *divergence_cases(),
        *hinge_cases(),
        *focal_cases(),
        *segmentation_cases(),
        *similarity_cases(),
        *class_weight_cases(),
        *sample_weight_cases(),
    ]


def class_weight_cases():
    """Classes without a weight have 1."""
    sparse = {"SparseCategoricalCrossentropy": {"from_logits": True}}
    binary = {"BinaryCrossentropy": {"from_logits": True}}
    one = {"Dense": {"units": 1}}
    weights = {0: 0.25, 1: 3.0, 4: 0.0}
    return [
        case("class_weight_sparse", [DENSE], sparse, "sparse", class_weight=weights),
        case(
            "class_weight_one_hot", [SOFTMAX], "categorical_crossentropy", "one_hot",
            class_weight=weights,
        ),
        case("class_weight_binary", [one], binary, "bits", class_weight={1: 2.5}),
    ]  # fmt: skip


def sample_weight_cases():
    """An example without weight does not count; metrics take all alike."""
    weights = [2.0, 0.0, 0.25, 1.5]
    sparse = {"SparseCategoricalCrossentropy": {"from_logits": True}}
    rows = (3, 2)
    return [
        case(
            "sample_weight_sparse", [DENSE], sparse, "sparse", sample_weight=weights,
            metrics=["accuracy"],
        ),
        case("sample_weight_rows", [DENSE], "mse", "values", shape=rows, sample_weight=weights),
        case("sample_weight_whole_batch", [SIGMOID], "Dice", "bits", sample_weight=weights),
        case(
            "sample_weight_masked", [{"Masking": {"mask_value": 0.0}}, DENSE], "mae", "values",
            shape=rows, sample_weight=weights, metrics=["mse"],
        ),
    ]  # fmt: skip


def crossentropy_cases():
    sparse = "SparseCategoricalCrossentropy"
    categorical = "CategoricalCrossentropy"
    binary = "BinaryCrossentropy"
    # These hand the probabilities on, and hide nothing.
    linear = {"Activation": {"activation": "linear"}}
    dropout = {"Dropout": {"rate": 0.5}}
    noise = {"GaussianNoise": {"stddev": 0.5}}
    logits = {"from_logits": True}
    smooth = {"label_smoothing": 0.2}

    return [
        case("sparse_logits", [DENSE], {sparse: logits}, "sparse"),
        case("sparse_softmax", [SOFTMAX], {sparse: {}}, "sparse", 30.0),
        case("sparse_softmax_layer", [DENSE, {"Softmax": {}}], {sparse: {}}, "sparse"),
        case("sparse_sigmoid", [SIGMOID], {sparse: {}}, "sparse"),
        case("sparse_probabilities", [SOFTMAX, HIDDEN], {sparse: {}}, "sparse"),
        case("sparse_softmax_linear", [SOFTMAX, linear], {sparse: {}}, "sparse", 30.0),
        case("sparse_softmax_noise", [SOFTMAX, noise], {sparse: {}}, "sparse", 30.0),
        case("sparse_softmax_dropout", [SOFTMAX, dropout], {sparse: {}}, "sparse", 30.0),
        case("sparse_clipped", [SOFTMAX, HIDDEN], {sparse: {}}, "sparse", 30.0),
        case("categorical_logits", [DENSE], {categorical: logits}, "one_hot"),
        case("categorical_softmax", [SOFTMAX], {categorical: {}}, "one_hot", 30.0),
        case(
            "categorical_softmax_linear", [SOFTMAX, {"Dropout": {"rate": 0.0}}, linear],
            {categorical: {}}, "one_hot", 30.0,
        ),
        case("categorical_probabilities", [SOFTMAX, HIDDEN], {categorical: {}}, "one_hot"),
        case("categorical_clipped", [SOFTMAX, HIDDEN], {categorical: {}}, "one_hot", 30.0),
        case("categorical_sum_not_1", [SIGMOID, HIDDEN], {categorical: {}}, "one_hot"),
        case("categorical_smooth", [DENSE], {categorical: logits | smooth}, "one_hot"),
        case(
            "categorical_smooth_probabilities", [SOFTMAX, HIDDEN],
            {categorical: smooth}, "one_hot",
        ),
        case(
            "categorical_rows", [DENSE], {categorical: logits}, "one_hot", shape=[3, 4],
        ),
        case("binary_logits", [DENSE], {binary: logits}, "one_hot"),
        case("binary_sigmoid", [SIGMOID], {binary: {}}, "one_hot", 30.0),
        case("binary_sigmoid_linear", [SIGMOID, linear, linear], {binary: {}}, "one_hot", 30.0),
        case("binary_probabilities", [SIGMOID, HIDDEN], {binary: {}}, "one_hot"),
        # Below 0 only: just below 1, float32 is too coarse to compare.
        case("binary_clipped", [DENSE], {binary: {}}, "one_hot", 0.3),
        case("binary_smooth", [DENSE], {binary: logits | smooth}, "one_hot"),
        case("binary_smooth_probabilities", [SIGMOID, HIDDEN], {binary: smooth}, "one_hot"),
    ]  # fmt: skip


def sparse_rows_cases():
    """A class for each step or pixel."""
    sparse, logits = "SparseCategoricalCrossentropy", {"from_logits": True}
    rows, pixels = [3, 4], [2, 3, 4]
    # Hides the logits as HIDDEN does, which would make one row of all.
    reshaped = {"Reshape": {"target_shape": [3, 5]}}
    metrics = ["accuracy"]
    weights = [2.0, 0.0, 0.25, 1.5]
    return [
        case("sparse_rows", [DENSE], {sparse: logits}, "sparse", shape=rows, metrics=metrics),
        case("sparse_rows_softmax", [SOFTMAX], {sparse: {}}, "sparse", 30.0, shape=rows),
        case("sparse_rows_probabilities", [SOFTMAX, reshaped], {sparse: {}}, "sparse", shape=rows),
        case("sparse_rows_clipped", [SOFTMAX, reshaped], {sparse: {}}, "sparse", 30.0, shape=rows),
        case(
            "sparse_rows_column", [DENSE], {sparse: logits}, "sparse_column", shape=rows,
            metrics=metrics,
        ),
        case("sparse_pixels", [DENSE], {sparse: logits}, "sparse", shape=pixels, metrics=metrics),
        case(
            "sparse_pixels_column", [SOFTMAX], {sparse: {}}, "sparse_column", shape=pixels,
            metrics=metrics,
        ),
        case(
            "sparse_rows_weighted", [DENSE], {sparse: logits}, "sparse", shape=rows,
            sample_weight=weights, metrics=metrics,
        ),
    ]  # fmt: skip


def ignored_class_cases():
    sparse = "SparseCategoricalCrossentropy"
    rows = [3, 4]
    reshaped = {"Reshape": {"target_shape": [3, 5]}}
    void = {"ignore_class": 255}
    weights = [2.0, 0.0, 0.25, 1.5]

    def ignored(name, layers, scale=3.0, shape=(4,), metrics=(), sample_weight=None, **config):
        loss = {sparse: config}
        return case(
            f"ignored_{name}", layers, loss, "sparse_ignored", scale, shape,
            metrics=[*metrics, "accuracy"], sample_weight=sample_weight,
        )

    return [
        ignored("logits", [DENSE], from_logits=True, ignore_class=-1),
        ignored("softmax", [SOFTMAX], 30.0, **void),
        ignored("probabilities", [SOFTMAX, HIDDEN], 30.0, **void),
        # A class of the model.
        ignored("class", [DENSE], from_logits=True, ignore_class=2),
        ignored("class_of_probabilities", [SOFTMAX, HIDDEN], ignore_class=0),
        ignored("rows", [DENSE], shape=rows, from_logits=True, ignore_class=-1),
        ignored("rows_of_probabilities", [SOFTMAX, reshaped], shape=rows, **void),
        ignored("pixels", [SOFTMAX], shape=[2, 3, 4], **void),
        ignored("rows_weighted", [SOFTMAX], shape=rows, sample_weight=weights, **void),
        ignored(
            "rows_weighted_mean", [SOFTMAX], shape=rows, sample_weight=weights,
            reduction="mean_with_sample_weight", **void,
        ),
        # In a metric, what is ignored counts, as 0.
        ignored(
            "metrics", [SOFTMAX], shape=rows,
            metrics=[{sparse: void}, {"SparseTopKCategoricalAccuracy": {"k": 2}},
                     {"MeanIoU": {"num_classes": 5, "sparse_y_pred": False}},
                     {"IoU": {"num_classes": 5, "sparse_y_pred": False, "target_class_ids": [0, 3],
                              "ignore_class": 1}}],
            **void,
        ),
    ]  # fmt: skip


def regression_cases():
    rows = [3, 4]
    relu = {"Dense": {"units": 5, "activation": "relu"}}
    return [
        case("huber", [DENSE], "huber", "values"),
        case("huber_rows", [DENSE], {"Huber": {"delta": 0.3}}, "values", shape=rows),
        case("mse", [DENSE], "mse", "values"),
        case("mse_rows", [DENSE], "MeanSquaredError", "values", shape=rows),
        case("mae", [DENSE], "mae", "values"),
        case("mae_rows", [DENSE], {"MeanAbsoluteError": {}}, "values", shape=rows),
        case("mape", [DENSE], "mape", "values"),
        # Most labels are 0.
        case("mape_rows", [DENSE], "MAPE", "one_hot", shape=rows),
        case("msle", [relu], "msle", "bits"),
        # Outputs and labels below 0 count as 0.
        case("msle_rows", [DENSE], "MeanSquaredLogarithmicError", "values", shape=rows),
        case("log_cosh", [DENSE], "log_cosh", "values"),
        case("log_cosh_rows", [DENSE], {"LogCosh": {}}, "values", 30.0, shape=rows),
    ]  # fmt: skip


def divergence_cases():
    softplus = {"Dense": {"units": 5, "activation": "softplus"}}
    return [
        case("kld", [SOFTMAX], "kld", "one_hot", 1.0),
        case("kld_clipped", [SOFTMAX, HIDDEN], "KLDivergence", "one_hot", 30.0),
        # Outputs and labels beyond 0 and 1.
        case("kld_no_probabilities", [DENSE], "kl_divergence", "values", shape=[3, 4]),
        case("poisson", [softplus], "poisson", "bits"),
        case("poisson_rows", [softplus], {"Poisson": {}}, "values", shape=[3, 4]),
    ]  # fmt: skip


def hinge_cases():
    tanh = {"Dense": {"units": 5, "activation": "tanh"}}
    return [
        # Labels of 0 and 1 become -1 and 1, others stay.
        case("hinge", [tanh], "hinge", "bits", 1.0),
        case("hinge_rows", [DENSE], {"Hinge": {}}, "values", shape=[3, 4]),
        case("squared_hinge", [DENSE], "squared_hinge", "one_hot", 1.0),
        case("squared_hinge_rows", [tanh], {"SquaredHinge": {}}, "values", shape=[3, 4]),
        case("categorical_hinge", [DENSE], "categorical_hinge", "one_hot"),
        case("categorical_hinge_rows", [SOFTMAX], {"CategoricalHinge": {}}, "bits", shape=[3, 4]),
        # All outputs are equal, and share the gradient of the largest.
        case(
            "categorical_hinge_ties", [{"Dense": {"units": 5, "kernel_initializer": "zeros"}}],
            "categorical_hinge", "bits", 0.0,
        ),
    ]  # fmt: skip


def focal_cases():
    binary = "BinaryFocalCrossentropy"
    categorical = "CategoricalFocalCrossentropy"
    logits = {"from_logits": True}
    balanced = {"apply_class_balancing": True, "alpha": 0.3, "gamma": 1.5}
    all_of_it = {"gamma": 3.0, "alpha": 0.4, "label_smoothing": 0.2}
    return [
        case("binary_focal_logits", [DENSE], {binary: logits}, "bits"),
        # The cross-entropy is that of the logits.
        case("binary_focal_sigmoid", [SIGMOID], {binary: {}}, "bits", 30.0),
        case("binary_focal_probabilities", [SIGMOID, HIDDEN], {binary: {}}, "bits"),
        case("binary_focal_clipped", [DENSE], {binary: {}}, "bits", 0.3),
        # What is said to be logits is not looked behind.
        case("binary_focal_logits_of_sigmoid", [SIGMOID], {binary: logits}, "bits"),
        case(
            "binary_focal_balanced", [SIGMOID], {binary: {**balanced, "label_smoothing": 0.1}},
            "bits", shape=[3, 4],
        ),
        case("categorical_focal_logits", [DENSE], {categorical: logits}, "one_hot"),
        # Nor is what goes into the softmax.
        case("categorical_focal_softmax", [SOFTMAX], {categorical: {}}, "one_hot", 30.0),
        case("categorical_focal_sigmoid", [SIGMOID], {categorical: {}}, "one_hot"),
        case(
            "categorical_focal_smooth", [SOFTMAX], {categorical: all_of_it}, "one_hot",
            shape=[3, 4],
        ),
    ]  # fmt: skip


def segmentation_cases():
    rows = [3, 4]
    uneven = {"alpha": 0.2, "beta": 0.7}
    return [
        case("dice", [SIGMOID], "dice", "bits", shape=rows),
        case("dice_examples", [SIGMOID], {"Dice": {"axis": [1, 2]}}, "bits", shape=rows),
        case("dice_classes", [SOFTMAX], {"Dice": {"axis": [0, 1]}}, "one_hot", shape=rows),
        case("dice_batch", [SIGMOID], {"Dice": {"axis": 0}}, "values", shape=rows),
        case("dice_last", [SIGMOID], {"Dice": {"axis": -1}}, "bits", shape=rows),
        case("tversky", [SIGMOID], {"Tversky": {}}, "bits"),
        case("tversky_classes", [SOFTMAX], {"Tversky": {**uneven, "axis": [0, -2]}}, "one_hot", shape=rows),
        case("tversky_examples", [SIGMOID], {"Tversky": {**uneven, "axis": [-1, 1]}}, "values", shape=rows),
    ]  # fmt: skip


def similarity_cases():
    return [
        case("cosine", [DENSE], "cosine_similarity", "values"),
        case("cosine_rows", [DENSE], {"CosineSimilarity": {}}, "values", shape=[3, 4]),
        case("cosine_axis", [DENSE], {"CosineSimilarity": {"axis": 1}}, "values", shape=[3, 4]),
        # Rows of labels that are 0, and small outputs.
        case("cosine_of_zeros", [DENSE], "cosine_similarity", "bits", 1e-3, shape=[3, 4]),
    ]  # fmt: skip
