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
    return [sparse, dense, rows, binary, values, names, precision, precision_values]
