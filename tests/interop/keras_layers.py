"""Models of a few layers: a part of keras_expected.py, which sets it up."""

from keras_models import model_case


def layer_cases():
    def case(name, shape, *layers):
        return model_case(name, shape, list(layers), "mse", "values")

    def conv(**config):
        return {"Conv2D": {"filters": 3, "kernel_size": 3, **config}}

    def conv1d(**config):
        return {"Conv1D": {"filters": 3, "kernel_size": 3, **config}}

    def transposed(**config):
        return {"Conv2DTranspose": {"filters": 3, "kernel_size": 3, **config}}

    front = {"Conv2D": {"filters": 2, "kernel_size": 1}}
    image = [7, 6, 2]
    dense = {"Dense": {"units": 4}}
    sequence = [7, 2]
    return [
        case("dense", [5], {"Dense": {"units": 4, "activation": "tanh"}}),
        case("dense_no_bias", [5], {"Dense": {"units": 4, "use_bias": False}}),
        case("dense_rows", [2, 5], {"Dense": {"units": 4, "activation": "softmax"}}),
        case("conv", image, conv(activation="relu")),
        case("conv_same", image, conv(padding="same")),
        case("conv_stride", image, conv(strides=2)),
        case("conv_same_stride", image, conv(padding="same", strides=[2, 3])),
        case("conv_even_kernel", image, conv(kernel_size=[2, 4], padding="same")),
        case("conv_dilated", image, conv(dilation_rate=2)),
        case("conv_same_dilated", image, conv(dilation_rate=[2, 1], padding="same")),
        case("conv_no_bias", image, conv(use_bias=False)),
        case("conv_grouped", image, conv(filters=4, groups=2)),
        case(
            "conv_grouped_same", image, conv(filters=6, kernel_size=1),
            conv(filters=9, groups=3, padding="same", strides=2),
        ),
        case("conv1d", sequence, dense, conv1d(activation="relu")),
        case("conv1d_same_stride", sequence, dense, conv1d(padding="same", strides=2)),
        case("conv1d_causal", sequence, dense, conv1d(padding="causal", activation="tanh")),
        case(
            "conv1d_causal_stride", sequence, dense,
            conv1d(kernel_size=4, padding="causal", strides=2),
        ),
        case(
            "conv1d_causal_dilated", sequence, dense,
            conv1d(filters=4, padding="causal", dilation_rate=3, groups=2),
        ),
        case("conv1d_causal_short", [2, 3], dense, conv1d(kernel_size=5, padding="causal")),
        case("conv1d_even_kernel", sequence, dense, conv1d(kernel_size=4, padding="same")),
        case(
            "conv1d_dilated_grouped", sequence, dense,
            conv1d(filters=6, kernel_size=[2], dilation_rate=3, groups=2, use_bias=False),
        ),
        case("transposed", image, front, transposed(activation="relu")),
        case("transposed_stride", image, front, transposed(strides=[2, 3])),
        case("transposed_wide_stride", image, front, transposed(kernel_size=2, strides=[4, 2])),
        case("transposed_same", image, front, transposed(padding="same", strides=2)),
        case(
            "transposed_same_even", image, front,
            transposed(kernel_size=[4, 2], padding="same", strides=[2, 3], use_bias=False),
        ),
        # Not dilated: TensorFlow computes that on GPUs only.
        case(
            "transposed_output_padding", image, front,
            transposed(strides=[3, 2], output_padding=[1, 0]),
        ),
        case(
            "transposed_same_output_padding", image, front,
            transposed(kernel_size=[3, 5], padding="same", strides=3, output_padding=[0, 2]),
        ),
        case("depthwise", image, {"DepthwiseConv2D": {"kernel_size": 3}}),
        case(
            "depthwise_multiplied", image, front,
            {"DepthwiseConv2D": {
                "kernel_size": [2, 3], "depth_multiplier": 3, "padding": "same",
                "activation": "relu6",
            }},
        ),
        case(
            "depthwise_stride", image, conv(kernel_size=1),
            {"DepthwiseConv2D": {
                "kernel_size": 3, "strides": 2, "padding": "same", "use_bias": False,
                "depthwise_regularizer": "l2",
            }},
        ),
        case(
            "depthwise_dilated", image, front,
            {"DepthwiseConv2D": {"kernel_size": 2, "dilation_rate": 2}},
        ),
        case(
            "separable", image, front,
            {"SeparableConv2D": {"filters": 3, "kernel_size": 3, "activation": "tanh"}},
        ),
        case(
            "separable_multiplied", image, front,
            {"SeparableConv2D": {
                "filters": 5, "kernel_size": 3, "depth_multiplier": 2, "strides": 2,
                "padding": "same", "use_bias": False,
            }},
        ),
        case("zero_padding", image, front, {"ZeroPadding2D": {}}, conv(strides=2)),
        case(
            "zero_padding_sides", image, front,
            {"ZeroPadding2D": {"padding": [[0, 1], [2, 3]]}}, conv(),
        ),
        case("zero_padding_axes", image, front, {"ZeroPadding2D": {"padding": [1, 2]}}),
        case("zero_padding_1d", sequence, dense, {"ZeroPadding1D": {}}, conv1d()),
        case("zero_padding_1d_sides", sequence, dense, {"ZeroPadding1D": {"padding": [0, 2]}}),
        case("cropping", image, front, {"Cropping2D": {"cropping": [[1, 0], [2, 3]]}}),
        case("cropping_axes", image, front, {"Cropping2D": {"cropping": [3, 0]}}, conv(kernel_size=1)),
        case("cropping_1d", sequence, dense, {"Cropping1D": {}}),
        case("cropping_1d_sides", sequence, dense, {"Cropping1D": {"cropping": [0, 5]}}),
        case("repeat_vector", [5], dense, {"RepeatVector": {"n": 3}}, conv1d(kernel_size=2)),
        case("up_sampling_1d", sequence, dense, {"UpSampling1D": {"size": 3}}, conv1d(strides=2)),
        case("permute", [2, 3, 4], dense, {"Permute": {"dims": [3, 1, 2]}}, {"Dense": {"units": 2}}),
        case("permute_axes", [3, 2], dense, {"Permute": {"dims": [2, 1]}}, conv1d(kernel_size=2)),
        case("up_sampling", image, front, {"UpSampling2D": {}}),
        case("up_sampling_size", image, front, {"UpSampling2D": {"size": [3, 1]}}),
        case(
            "up_sampling_bilinear", image, front,
            {"UpSampling2D": {"size": [2, 3], "interpolation": "bilinear"}},
        ),
        case("rescaling", [5], {"Rescaling": {"scale": 0.5, "offset": -1.0}}, {"Dense": {"units": 3}}),
        case(
            "rescaling_channels", [2, 3], {"Dense": {"units": 3}},
            {"Rescaling": {"scale": [1.0, 2.0, -3.0], "offset": [0.5, 0.0, 1.0]}},
        ),
        case("normalization", [2, 5], {"Normalization": {}}, {"Dense": {"units": 3}}),
        case(
            "normalization_between", [2, 3, 4], {"Dense": {"units": 3}},
            {"Normalization": {"axis": [1, -1]}}, {"Dense": {"units": 2}},
        ),
        case(
            "normalization_of_all", [3, 4], {"Dense": {"units": 3}},
            {"Normalization": {"axis": None, "invert": True}},
        ),
        case(
            "normalization_given", [3, 2], {"Dense": {"units": 2}},
            {"Normalization": {"mean": [0.5, -1.0], "variance": [0.25, 0.0]}},
            {"Normalization": {"axis": [1, 2], "mean": [2.0, 1e6], "variance": [1e13, 4.0]}},
        ),
        case(
            "normalization_of_middle_axis", [3, 2], {"Dense": {"units": 2}},
            {"Normalization": {"axis": 1, "mean": [1.0, 2.0, 3.0], "variance": [4.0, 0.5, 2.0],
                               "invert": True}},
            {"Normalization": {"axis": None, "mean": 0.5, "variance": 9.0}},
        ),
        case(
            "layer_normalization", [4, 5], {"Dense": {"units": 6}},
            {"LayerNormalization": {}}, {"Dense": {"units": 3}},
        ),
        case(
            "layer_normalization_axes", [4, 5], {"Dense": {"units": 6}},
            {"LayerNormalization": {"axis": [1, 2], "epsilon": 0.01, "center": False}},
            {"Dense": {"units": 3}},
        ),
        case(
            "group_normalization", [4, 3], {"Dense": {"units": 6}},
            {"GroupNormalization": {"groups": 2}}, {"Dense": {"units": 3}},
        ),
        case(
            "group_normalization_axis", [4, 5], {"Dense": {"units": 6}},
            {"GroupNormalization": {"groups": -1, "axis": 1, "epsilon": 0.01, "scale": False}},
            {"Dense": {"units": 3}},
        ),
        case(
            "embedding", [6], {"Embedding": {"input_dim": 9, "output_dim": 4}},
            {"Dense": {"units": 3}},
        ),
        case("lstm", sequence, dense, {"LSTM": {"units": 3}}),
        case(
            "lstm_sequences", sequence, dense,
            {"LSTM": {
                "units": 3, "return_sequences": True, "recurrent_activation": "hard_sigmoid",
                "activation": "softsign", "recurrent_regularizer": "l2",
            }},
            {"Dense": {"units": 2}},
        ),
        case(
            "lstm_backwards", sequence, dense,
            {"LSTM": {
                "units": 3, "return_sequences": True, "go_backwards": True, "use_bias": False,
            }},
            {"LSTM": {"units": 2, "go_backwards": True, "unroll": True}},
        ),
        case("gru", sequence, dense, {"GRU": {"units": 3}}),
        case(
            "gru_reset_before", sequence, dense,
            {"GRU": {
                "units": 3, "reset_after": False, "return_sequences": True,
                "bias_regularizer": "l1",
            }},
            {"GRU": {"units": 2, "use_bias": False, "go_backwards": True}},
        ),
        case(
            "simple_rnn", sequence, dense,
            {"SimpleRNN": {"units": 3, "return_sequences": True}},
            {"SimpleRNN": {"units": 2, "activation": "relu", "use_bias": False}},
        ),
        *[
            case(
                f"bidirectional_{mode}", sequence, dense,
                {"Bidirectional": {"merge_mode": mode, "layer": layer}}, {"Dense": {"units": 2}},
            )
            for mode, layer in (
                ("concat", {"LSTM": {"units": 3, "return_sequences": True}}),
                ("sum", {"GRU": {"units": 3, "return_sequences": True}}),
                ("mul", {"SimpleRNN": {"units": 3}}),
                ("ave", {"GRU": {"units": 3, "use_bias": False}}),
            )
        ],
        case(
            "bidirectional_layers", sequence, dense,
            {"Bidirectional": {
                "layer": {"LSTM": {"units": 3}},
                "backward_layer": {
                    "LSTM": {"units": 3, "go_backwards": True, "activation": "relu", "use_bias": False},
                },
            }},
        ),
        case(
            "time_distributed", [3, 7, 6, 2], {"TimeDistributed": {"layer": conv(activation="relu")}},
            {"TimeDistributed": {"layer": {"Flatten": {}}}},
            {"TimeDistributed": {"layer": {"Dense": {"units": 4, "activation": "softmax"}}}},
            {"LSTM": {"units": 2}},
        ),
        case("max_pooling", image, front, {"MaxPooling2D": {}}),
        case("max_pooling_same", image, front, {"MaxPooling2D": {"padding": "same"}}),
        case(
            "max_pooling_overlap", image, front,
            {"MaxPooling2D": {"pool_size": 3, "strides": 2, "padding": "same"}},
        ),
        case("max_pooling_1d", sequence, dense, {"MaxPooling1D": {}}),
        case(
            "max_pooling_1d_overlap", sequence, {"Dense": {"units": 4, "activation": "relu"}},
            {"MaxPooling1D": {"pool_size": 3, "strides": 2, "padding": "same"}},
        ),
        case("average_pooling_1d", sequence, dense, {"AveragePooling1D": {"pool_size": 2}}),
        case(
            "average_pooling_1d_overlap", sequence, dense,
            {"AveragePooling1D": {"pool_size": [3], "strides": 1, "padding": "same"}},
        ),
        case("average_pooling", image, front, {"AveragePooling2D": {"pool_size": 2}}),
        case(
            "average_pooling_same", image, front,
            {"AveragePooling2D": {"pool_size": 3, "strides": 2, "padding": "same"}},
        ),
        case("global_average", image, front, {"GlobalAveragePooling2D": {}}),
        case(
            "global_average_keepdims", image, front,
            {"GlobalAveragePooling2D": {"keepdims": True}},
        ),
        case("global_average_1d", sequence, dense, {"GlobalAveragePooling1D": {}}),
        case(
            "global_average_1d_keepdims", sequence, dense,
            {"GlobalAveragePooling1D": {"keepdims": True}}, {"Dense": {"units": 2}},
        ),
        case("global_max", image, conv(), {"GlobalMaxPooling2D": {}}),
        # All variables are 0, and equal elements share the gradient.
        model_case(
            "global_max_of_equal_ones", image,
            [conv(), {"GlobalMaxPooling2D": {"keepdims": True}}], "mse", "values", scale=0.0,
        ),
        case("global_max_1d", sequence, dense, {"GlobalMaxPooling1D": {}}),
        case(
            "global_max_1d_keepdims", sequence, {"Dense": {"units": 4, "activation": "relu6"}},
            {"GlobalMaxPooling1D": {"keepdims": True}}, {"Dense": {"units": 2}},
        ),
        case("batch_normalization", [5], {"BatchNormalization": {}}, {"Dense": {"units": 3}}),
        case(
            "batch_normalization_images", image, conv(use_bias=False),
            {"BatchNormalization": {"momentum": 0.6, "epsilon": 0.01}}, {"ReLU": {}},
            {"BatchNormalization": {"center": False, "gamma_regularizer": "l2"}},
        ),
        case(
            "batch_normalization_no_scale", image, conv(use_bias=False),
            {"BatchNormalization": {"scale": False, "synchronized": True}},
        ),
        case(
            "frozen", image, conv(), {"BatchNormalization": {"trainable": False}},
            conv(trainable=False, kernel_regularizer="l2"),
            {"DepthwiseConv2D": {"kernel_size": 2}},
        ),
        case(
            "frozen_normalization", [5], {"Dense": {"units": 4}},
            {"BatchNormalization": {"trainable": False, "gamma_regularizer": "l2"}},
            {"Dense": {"units": 3, "kernel_regularizer": "l2"}},
        ),
        case("flatten", image, front, {"Flatten": {}}, {"Dense": {"units": 2}}),
        case("reshape", image, front, {"Reshape": {"target_shape": [4, -1]}}),
        case("dropout", [5], {"Dense": {"units": 4}}, {"Dropout": {"rate": 0.5}}),
        *[
            case(name, [3, 5], {"Dense": {"units": 4}}, layer)
            for name, layer in (
                ("dropout_noise_shape", {"Dropout": {"rate": 0.5, "noise_shape": [None, 1, 4]}}),
                ("spatial_dropout_1d", {"SpatialDropout1D": {"rate": 0.5}}),
                ("alpha_dropout", {"AlphaDropout": {"rate": 0.5}}),
                ("gaussian_dropout", {"GaussianDropout": {"rate": 0.5}}),
                ("gaussian_noise", {"GaussianNoise": {"stddev": 0.5}}),
            )
        ],
        case("spatial_dropout_2d", image, front, {"SpatialDropout2D": {"rate": 0.5}}),
        case("leaky_relu", [5], {"Dense": {"units": 6}}, {"LeakyReLU": {}}),
        case("elu_alpha", [5], {"Dense": {"units": 6}}, {"ELU": {"alpha": 0.5}}),
        case("prelu", [2, 5], {"Dense": {"units": 3}}, {"PReLU": {}}, {"Dense": {"units": 2}}),
        case(
            "prelu_shared", image, front,
            {"PReLU": {"shared_axes": [1, 2], "alpha_regularizer": "l2"}}, conv(),
        ),
        case("prelu_shared_channels", image, front, {"PReLU": {"shared_axes": [3]}}),
        case(
            "relu", [5], {"Dense": {"units": 6}},
            {"ReLU": {"max_value": 1.0, "negative_slope": 0.1, "threshold": 0.2}},
        ),
        case("relu_plain", [5], {"Dense": {"units": 6}}, {"ReLU": {}}),
        case("softmax_last", [2, 5], {"Dense": {"units": 4}}, {"Softmax": {}}),
        case("softmax_axis", [2, 5], {"Dense": {"units": 4}}, {"Softmax": {"axis": 1}}),
        case(
            "regularizers", [5],
            {"Dense": {"units": 4, "kernel_regularizer": "l1", "bias_regularizer": "l2"}},
            {"Dense": {
                "units": 3,
                "kernel_regularizer": {
                    "class_name": "L1L2", "config": {"l1": 0.1, "l2": 0.2},
                },
            }},
        ),
        case("regularizer_l2", image, conv(kernel_regularizer="l2")),
        case(
            "activity_regularizers", [5],
            {"Dense": {"units": 4, "activation": "tanh", "activity_regularizer": "l1"}},
            {"ActivityRegularization": {"l1": 0.1, "l2": 0.2}},
            {"Dense": {"units": 3, "activity_regularizer": "l2"}},
        ),
        case(
            "activity_regularizer_of_image", image,
            conv(activation="relu", activity_regularizer="l2"), {"MaxPooling2D": {}},
        ),
        case(
            "activity_regularizer_of_steps", sequence,
            {"Masking": {"activity_regularizer": "l1"}},
            {"LSTM": {"units": 3, "return_sequences": True, "activity_regularizer": "l2"}},
            {"Flatten": {"activity_regularizer": "l1"}}, dense,
        ),
    ]  # fmt: skip
