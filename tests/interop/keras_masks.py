"""Models with masks: a part of keras_expected.py, which sets it up."""

from keras_models import model_case


def mask_cases():
    """Ids have zeros; a Dense with a rectifier is 0 in about half of the steps."""

    def of_ids(name, *layers, labels="values", **rest):
        embedding = {"Embedding": {"input_dim": 9, "output_dim": 4, "mask_zero": True, "name": "e"}}
        return model_case(f"mask_{name}", [6], [embedding, *layers], "mse", labels, **rest)

    def of_values(name, *layers, loss="mse", labels="values", **rest):
        rectified = {"Dense": {"units": 1, "activation": "relu"}}
        return model_case(
            f"masking_{name}", [7, 2], [rectified, {"Masking": {}}, *layers], loss, labels, **rest
        )

    def of_rows(name, *layers):
        rectified = {"Dense": {"units": 1, "activation": "relu"}}
        return model_case(f"mask_of_rows_{name}", [3, 5, 2], [rectified, {"Masking": {}}, *layers], "mse", "values")

    def given(name, mask, **config):
        softmax = {"Softmax": {**config, "mask_inputs": ["mask"], "name": "s"}, "inputs": ["x", "m"]}
        dense = {"Dense": {"units": 5, "name": "x"}, "inputs": ["input_layer"]}
        dot = {"Dot": {"axes": 1}, "inputs": ["r", "x"]}
        layers = [dense, {**mask, "inputs": ["input_layer"]}, softmax, {"ReLU": {"name": "r"}}, dot]
        return model_case(f"mask_given_{name}", [7, 2], layers, "mse", "values")

    def merged(name, *layers):
        sides = [
            {"Dense": {"units": 1, "activation": "relu"}},
            {"Masking": {}},
            {"Dense": {"units": 4, "name": "m"}},
        ]
        return of_ids(f"merged_{name}", *sides, *layers, {"LSTM": {"units": 3}})

    def merge(class_name, *inputs, **config):
        return {class_name: config, "inputs": list(inputs)}

    def operator(class_name, *inputs, **config):
        return {class_name: config, "inputs": list(inputs), "unmasked": True}

    return [
        of_values("lstm", {"LSTM": {"units": 3}}),
        of_values("value", {"Masking": {"mask_value": 0.5}}, {"GRU": {"units": 3}}),
        of_values("loss", {"Dense": {"units": 3}}, metrics=["mae", "RootMeanSquaredError"]),
        of_values(
            "accuracy", {"Dense": {"units": 4, "activation": "softmax"}}, {"Dropout": {"rate": 0.0}},
            loss="categorical_crossentropy", labels="one_hot",
            metrics=["accuracy", "categorical_crossentropy", "Precision", "CosineSimilarity"],
        ),
        of_values(
            "ids", {"Dense": {"units": 4, "activation": "softmax"}},
            loss="sparse_categorical_crossentropy", labels="sparse",
            metrics=["accuracy", "sparse_categorical_crossentropy",
                     {"SparseTopKCategoricalAccuracy": {"k": 2}}],
        ),
        of_values(
            "ignored_ids", {"Dense": {"units": 4}},
            loss={"SparseCategoricalCrossentropy": {"from_logits": True, "ignore_class": -1}},
            labels="sparse_ignored",
            metrics=["accuracy",
                     {"SparseCategoricalCrossentropy": {"from_logits": True, "ignore_class": -1}}],
        ),
        of_values("hinge", {"Dense": {"units": 3}}, loss="categorical_hinge", labels="one_hot"),
        of_values("dice", {"Dense": {"units": 3, "activation": "sigmoid"}}, loss="Dice", labels="bits"),
        of_ids(
            "recurrent", {"LSTM": {"units": 3, "return_sequences": True}},
            {"GRU": {"units": 4, "return_sequences": True, "go_backwards": True}},
            {"SimpleRNN": {"units": 2}},
        ),
        of_ids(
            "zero_output",
            {"LSTM": {"units": 3, "return_sequences": True, "zero_output_for_mask": True}},
            {"GRU": {"units": 4, "zero_output_for_mask": True}},
        ),
        of_ids(
            "zero_output_backwards",
            {"SimpleRNN": {"units": 3, "go_backwards": True, "zero_output_for_mask": True}},
        ),
        of_ids(
            "bidirectional",
            {"Bidirectional": {"layer": {"GRU": {"units": 3, "return_sequences": True}}}},
            {"Bidirectional": {"layer": {"LSTM": {"units": 2}}}},
        ),
        of_ids(
            "passed", {"Dense": {"units": 4, "activation": "tanh"}}, {"LayerNormalization": {}},
            {"PReLU": {}}, {"TimeDistributed": {"layer": {"Dense": {"units": 3}}}},
            {"BatchNormalization": {"trainable": False}}, {"GlobalAveragePooling1D": {}},
        ),
        of_ids("dropped", {"Conv1D": {"filters": 3, "kernel_size": 2}}, {"GRU": {"units": 2}}),
        of_ids(
            "attention", {"Dense": {"units": 3, "name": "d"}},
            {"MultiHeadAttention": {"num_heads": 2, "key_dim": 3, "use_bias": False, "name": "a"},
             "inputs": ["e", "d"]},
            merge("Add", "a", "e"), {"GlobalAveragePooling1D": {}},
        ),
        # The second sees no mask, since the first takes that of "e" away.
        of_ids(
            "attention_twice",
            {"MultiHeadAttention": {"num_heads": 1, "key_dim": 3, "use_bias": False, "name": "a"},
             "inputs": ["e", "e"]},
            {"Add": {"name": "s"}, "inputs": ["e", "a"]},
            {"MultiHeadAttention": {"num_heads": 1, "key_dim": 3, "use_bias": False, "name": "b"},
             "inputs": ["s", "s"]},
            merge("Add", "s", "b"),
        ),
        of_ids(
            "attention_causal",
            {"MultiHeadAttention": {"num_heads": 1, "key_dim": 3, "use_bias": False,
                                    "use_causal_mask": True},
             "inputs": ["e", "e"]},
            {"GlobalAveragePooling1D": {"keepdims": True}}, {"Dense": {"units": 2}},
        ),
        of_ids("batch_normalization", {"BatchNormalization": {}}, {"GlobalAveragePooling1D": {}}),
        of_ids("batch_normalization_relu", {"BatchNormalization": {}}, {"ReLU": {}}, {"Dense": {"units": 3}}),
        of_ids(
            "batch_normalization_plain", {"Dense": {"units": 3}},
            {"BatchNormalization": {"scale": False, "center": False, "momentum": 0.5, "synchronized": True}},
        ),
        of_rows("lstm", {"TimeDistributed": {"layer": {"LSTM": {"units": 3}}}}, {"Flatten": {}}),
        of_rows(
            "gru",
            {"TimeDistributed": {"layer": {"GRU": {"units": 3, "return_sequences": True, "go_backwards": True}}}},
            {"TimeDistributed": {"layer": {"SimpleRNN": {"units": 2, "return_sequences": True,
                                                         "zero_output_for_mask": True}}}},
            {"TimeDistributed": {"layer": {"GlobalAveragePooling1D": {}}}}, {"Flatten": {}},
        ),
        given("softmax", {"Dense": {"units": 5, "activation": "relu", "name": "m"}}),
        given("softmax_axis", {"Dense": {"units": 1, "activation": "relu", "name": "m"}}, axis=1),
        # One mask is that of the query, one is given, and one takes the place of the value's.
        of_ids(
            "attention_given", {"Dense": {"units": 6, "activation": "relu", "name": "m"}},
            {"MultiHeadAttention": {"num_heads": 2, "key_dim": 3, "use_bias": False,
                                    "mask_inputs": ["attention_mask"], "name": "a"},
             "inputs": ["e", "e", "m"]},
            {"Conv1D": {"filters": 1, "kernel_size": 1, "activation": "relu"}, "inputs": ["m"]},
            {"Flatten": {"name": "v"}},
            {"MultiHeadAttention": {"num_heads": 1, "key_dim": 3, "use_bias": False,
                                    "mask_inputs": ["value_mask"], "name": "b"},
             "inputs": ["a", "a", "v"]},
            {"GlobalAveragePooling1D": {}},
        ),
        of_ids(
            "operator_add", {"Dense": {"units": 4, "name": "d"}},
            operator("Add", "e", "d", name="s"), {"LSTM": {"units": 3}},
        ),
        # Attention may run before or after an operator.
        of_ids(
            "operators", operator("Rescaling", "e", name="h", scale=0.5),
            {"MultiHeadAttention": {"num_heads": 1, "key_dim": 3, "use_bias": False, "name": "a"},
             "inputs": ["e", "e"]},
            operator("Subtract", "a", "h", name="s"), operator("Multiply", "s", "a", name="p"),
            {"LayerNormalization": {"name": "n"}, "inputs": ["a"]},
            operator("Rescaling", "n", name="r", scale=-1, offset=0.25),
            operator("Add", "p", "r", name="t"), {"GRU": {"units": 3}},
        ),
        # Keras records no mask for a call with keywords, and attention takes the other away.
        of_ids(
            "keyword_call",
            {"MultiHeadAttention": {"num_heads": 1, "key_dim": 3, "use_bias": False, "name": "a"},
             "inputs": ["e", "e"]},
            merge("Add", "e", "a", name="s"),
            {"GRU": {"units": 3, "return_sequences": True}, "inputs": ["s"], "unmasked": True},
            {"GRU": {"units": 2}},
        ),
        of_ids(
            "keyword_call_masked",
            {"GRU": {"units": 3, "return_sequences": True}, "inputs": ["e"], "unmasked": True},
            {"GRU": {"units": 2}},
        ),
        of_ids("operator_loss", operator("Rescaling", "e", name="r", offset=0.5, scale=1)),
        merged("add", merge("Add", "e", "m")),
        merged("multiply", merge("Multiply", "e", "m", "e")),
        merged("multiply_unmasked", {"Conv1D": {"filters": 4, "kernel_size": 1, "name": "c"}},
               merge("Multiply", "e", "c", "m")),
        merged("maximum", merge("Maximum", "m", "e")),
        merged("minimum", merge("Minimum", "e", "m", "e")),
        merged("concatenate", merge("Concatenate", "e", "m")),
        merged("concatenate_unmasked", {"Conv1D": {"filters": 2, "kernel_size": 1, "name": "c"}},
               merge("Concatenate", "m", "c")),
        merged("concatenate_steps", {"Conv1D": {"filters": 4, "kernel_size": 2, "name": "c"}},
               merge("Concatenate", "e", "c", "m", axis=1)),
    ]  # fmt: skip
