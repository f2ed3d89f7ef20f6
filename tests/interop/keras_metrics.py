"""Models with each metric: a part of keras_expected.py."""

from keras_models import model_case


def metric_cases():
    sparse = model_case(
        "metrics_sparse", [6], [{"Dense": {"units": 8}}],
        {"SparseCategoricalCrossentropy": {"from_logits": True}}, "sparse",
        ["accuracy", "sparse_categorical_accuracy", {"SparseTopKCategoricalAccuracy": {"k": 3}},
         {"SparseCategoricalCrossentropy": {"from_logits": True}}],
        batch=9,
    )  # fmt: skip
    sparse_rows = model_case(
        "metrics_sparse_rows", [4, 6], [{"Dense": {"units": 8, "activation": "softmax"}}],
        "sparse_categorical_crossentropy", "sparse",
        ["accuracy", "sparse_categorical_accuracy", {"SparseTopKCategoricalAccuracy": {"k": 3}},
         "sparse_categorical_crossentropy", {"MeanIoU": {"num_classes": 8, "sparse_y_pred": False}},
         {"IoU": {"num_classes": 8, "target_class_ids": [1, 4], "sparse_y_pred": False}}],
        batch=5,
    )  # fmt: skip
    sparse_pixels = model_case(
        "metrics_sparse_pixels", [2, 3, 6], [{"Dense": {"units": 8}}],
        {"SparseCategoricalCrossentropy": {"from_logits": True}}, "sparse_column",
        ["accuracy", {"SparseTopKCategoricalAccuracy": {"k": 2}}], batch=3,
    )  # fmt: skip
    dense = model_case(
        "metrics_dense", [6], [{"Dense": {"units": 8, "activation": "softmax"}}],
        "categorical_crossentropy", "one_hot",
        ["acc", "categorical_accuracy", {"TopKCategoricalAccuracy": {"k": 3}},
         "binary_accuracy", "mse", "bce", "categorical_crossentropy"],
        batch=9,
    )  # fmt: skip
    rows = model_case(
        "metrics_rows", [4, 6], [{"Dense": {"units": 3}}], "mse", "one_hot",
        ["accuracy", {"BinaryAccuracy": {"threshold": 0.1, "name": "low"}}], batch=5,
    )  # fmt: skip
    top_rows = model_case(
        "metrics_top_rows", [4, 6], [{"Dense": {"units": 8, "activation": "softmax"}}],
        "categorical_crossentropy", "one_hot",
        [{"TopKCategoricalAccuracy": {"k": 3}}, {"OneHotMeanIoU": {"num_classes": 8}}], batch=5,
    )  # fmt: skip
    binary = model_case(
        "metrics_binary", [6], [{"Dense": {"units": 1, "activation": "sigmoid"}}],
        "binary_crossentropy", "bits", ["accuracy", "mean_squared_error"], batch=9,
    )  # fmt: skip
    # Labels that are no yes or no are never met.
    values = model_case(
        "metrics_values", [6], [{"Dense": {"units": 1}}], "mse", "values",
        ["binary_accuracy"], batch=9,
    )  # fmt: skip
    names = model_case(
        "metrics_names", [6], [{"Dense": {"units": 8}}], "mse", "one_hot",
        ["MSE", "mse", "MeanSquaredError", "MSE", {"MeanSquaredError": {}},
         "mean_squared_error", {"MeanSquaredError": {"name": "MSE"}}, "Accuracy",
         "accuracy", "accuracy"],
        batch=5,
    )  # fmt: skip
    precision = model_case(
        "metrics_precision", [6], [{"Dense": {"units": 5, "activation": "sigmoid"}}],
        "binary_crossentropy", "bits",
        [{"Precision": {}}, {"Precision": {"thresholds": 0.6, "name": "high"}},
         {"Precision": {"class_id": 3, "name": "of_one_class"}},
         {"Precision": {"thresholds": 1.0, "name": "of_none"}}],
        batch=9,
    )  # fmt: skip
    # Every label but 0 is a yes.
    precision_values = model_case(
        "metrics_precision_values", [4, 6], [{"Dense": {"units": 3}}], "mse", "values",
        [{"Precision": {"thresholds": 0.1}}], batch=5,
    )  # fmt: skip
    return [
        sparse, sparse_rows, sparse_pixels, dense, rows, top_rows, binary, values, names, precision, precision_values,
        *confusion_cases(),
        *curve_cases(),
        *score_cases(),
        *iou_cases(),
        *regression_cases(),
    ]  # fmt: skip


def named(entries):
    """(class, config) pairs as metrics, each with a name of its own."""
    return [
        {class_name: {**config, "name": f"{i}_{class_name}"}}
        for i, (class_name, config) in enumerate(entries)
    ]


SIGMOID = {"Dense": {"units": 5, "activation": "sigmoid"}}
SOFTMAX = {"Dense": {"units": 5, "activation": "softmax"}}
RELU = {"Dense": {"units": 5, "activation": "relu"}}
DENSE = {"Dense": {"units": 5}}


def confusion_cases():
    counts = ["TruePositives", "FalsePositives", "TrueNegatives", "FalseNegatives"]
    rates = [
        (class_name, config)
        for class_name in ("Precision", "Recall")
        for config in [
            {}, {"thresholds": 0.6}, {"thresholds": 1.0}, {"class_id": 3}, {"top_k": 2},
            {"top_k": 3, "thresholds": 0.7}, {"top_k": 1, "class_id": 0}, {"top_k": 5},
        ]
    ]  # fmt: skip
    at_thresholds = [(name, config) for name in counts for config in [{}, {"thresholds": 0.3}]]
    metrics = named([*rates, *at_thresholds])
    return [
        model_case("metrics_confusion", [6], [SIGMOID], "bce", "bits", metrics, batch=9),
        model_case("metrics_confusion_rows", [4, 6], [DENSE], "mse", "values", metrics, batch=5),
        # Of outputs that are 0 the first are the largest.
        model_case("metrics_confusion_ties", [6], [RELU], "mse", "bits", metrics, batch=9),
        model_case(
            "metrics_confusion_names", [6], [SIGMOID], "bce", "bits",
            ["Recall", "recall", "true_positives", {"FalseNegatives": {}}, "precision"], batch=9,
        ),
    ]  # fmt: skip


def curve_cases():
    areas = [
        ("AUC", {"curve": curve, "summation_method": method, **thresholds})
        for curve in ("ROC", "PR", "PRGAIN")
        for method in ("interpolation", "minoring", "majoring")
        for thresholds in [
            {}, {"num_thresholds": 7}, {"num_thresholds": 2}, {"thresholds": [0.7, 0.2, 0.45]},
        ]
    ]  # fmt: skip
    rates = [
        (class_name, {key: least, **config})
        for class_name, key in [
            ("PrecisionAtRecall", "recall"),
            ("RecallAtPrecision", "precision"),
            ("SensitivityAtSpecificity", "specificity"),
            ("SpecificityAtSensitivity", "sensitivity"),
        ]
        for least, config in [
            (0.5, {}), (0.3, {"num_thresholds": 1}), (0.7, {"num_thresholds": 2}),
            (0.8, {"num_thresholds": 11, "class_id": 2}), (1.0, {}),
        ]
    ]  # fmt: skip
    metrics = named([*areas, *rates])
    logits = named([("AUC", {"from_logits": True}), ("AUC", {"from_logits": True, "curve": "PR"})])
    return [
        model_case("metrics_curves", [6], [SIGMOID], "bce", "bits", metrics, batch=9),
        # Outputs outside of 0 and 1.
        model_case("metrics_curves_rows", [4, 6], [DENSE], "mse", "values", metrics, batch=5),
        model_case("metrics_curves_logits", [6], [DENSE], "mse", "bits", logits, batch=9),
        # Outputs of 0.
        model_case("metrics_curves_zeros", [6], [RELU], "mse", "bits", metrics, batch=9),
    ]  # fmt: skip


def score_cases():
    metrics = named(
        [
            (class_name, {"average": average, **config})
            for average in ("micro", "macro", "weighted")
            for class_name, config in [
                ("F1Score", {}),
                ("F1Score", {"threshold": 0.4}),
                ("FBetaScore", {"beta": 0.5}),
                ("FBetaScore", {"beta": 2.0, "threshold": 0.6}),
            ]
        ]
    )
    defaults = [{"F1Score": {"average": "macro"}}, {"FBetaScore": {"average": "micro"}}]
    return [
        model_case("metrics_scores", [6], [SOFTMAX], "categorical_crossentropy", "one_hot",
                   [*metrics, *defaults], batch=9),
        # Rows of zeros predict nothing; labels are no yes or no.
        model_case("metrics_scores_zeros", [6], [RELU], "mse", "values", metrics, batch=9),
    ]  # fmt: skip


def iou_cases():
    numbers = named(
        [
            ("IoU", {"num_classes": 3, "target_class_ids": [0, 2]}),
            ("IoU", {"num_classes": 2, "target_class_ids": [1], "ignore_class": 0}),
            ("MeanIoU", {"num_classes": 2}),
            ("MeanIoU", {"num_classes": 5, "ignore_class": 1}),
            ("BinaryIoU", {}),
            ("BinaryIoU", {"target_class_ids": [1], "threshold": 0.3}),
        ]
    )
    one_hot = named(
        [
            ("OneHotIoU", {"num_classes": 5, "target_class_ids": [0, 3]}),
            ("OneHotMeanIoU", {"num_classes": 5}),
            ("OneHotMeanIoU", {"num_classes": 4, "ignore_class": 2}),
            ("MeanIoU", {"num_classes": 5, "sparse_y_true": False, "sparse_y_pred": False}),
        ]
    )
    sparse = named(
        [
            ("MeanIoU", {"num_classes": 5, "sparse_y_pred": False}),
            ("IoU", {"num_classes": 4, "target_class_ids": [3, 0], "sparse_y_pred": False}),
        ]
    )
    logits = {"SparseCategoricalCrossentropy": {"from_logits": True}}
    return [
        # Outputs from -2 to 3 are rounded towards 0, and counted if that is a class.
        model_case("metrics_iou", [4, 6], [DENSE], "mse", "bits",
                   [*numbers, {"MeanIoU": {"num_classes": 2}}], batch=5, scale=2.0),
        model_case("metrics_iou_one_hot", [4, 6], [DENSE], "mse", "one_hot", one_hot, batch=5),
        model_case("metrics_iou_sparse", [6], [DENSE], logits, "sparse", sparse, batch=9),
    ]  # fmt: skip


def regression_cases():
    scores = named(
        [
            ("R2Score", {"class_aggregation": aggregation})
            for aggregation in ("uniform_average", "variance_weighted_average")
        ]
    )
    errors = [
        {"RootMeanSquaredError": {}}, "root_mean_squared_error", {"LogCoshError": {}},
        "log_cosh_error", {"CosineSimilarity": {}}, "CosineSimilarity", "mae", "MAPE",
        "msle", {"MeanAbsoluteError": {}}, "poisson", "hinge", "SquaredHinge",
        "categorical_hinge", {"KLDivergence": {}},
    ]  # fmt: skip
    across = {"CosineSimilarity": {"axis": 1, "name": "across"}}
    softplus = {"Dense": {"units": 5, "activation": "softplus"}}
    return [
        model_case("metrics_errors", [6], [softplus], "mse", "values", [*scores, *errors], batch=9),
        model_case("metrics_errors_rows", [4, 6], [softplus], "mae", "bits", [*errors, across], batch=5),
    ]  # fmt: skip
