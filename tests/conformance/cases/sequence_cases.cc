#include "absl/strings/str_cat.h"
#include "tests/conformance/cases/lists.h"

namespace paceline {

std::vector<Case> SequenceCases() {
  std::vector<Case> cases;
  const auto behind_dense = [&cases](const std::string& name,
                                     const std::string& layers) {
    cases.push_back(
        Layers(absl::StrCat("sequence_", name),
               absl::StrCat("[Input: {shape: [9, 3]}, Dense: {units: 4}, ",
                            layers, ", Dense: {units: 2}]")));
  };
  for (const char* config :
       {"kernel_size: 3", "kernel_size: 4, padding: same, activation: relu",
        "kernel_size: [2], strides: 3, groups: 2",
        "kernel_size: 3, dilation_rate: 2, padding: same, use_bias: false",
        "kernel_size: 3, dilation_rate: 2, padding: causal",
        "kernel_size: 4, strides: 3, padding: causal"}) {
    behind_dense(absl::StrCat("convolution_", cases.size()),
                 absl::StrCat("Conv1D: {filters: 6, ", config, "}"));
  }
  for (const char* kind : {"MaxPooling1D", "AveragePooling1D"}) {
    for (const char* config :
         {"pool_size: 2", "pool_size: 3, strides: 2, padding: same"}) {
      behind_dense(absl::StrCat(kind, "_", cases.size()),
                   absl::StrCat(kind, ": {", config, "}"));
    }
  }
  for (const char* kind : {"GlobalMaxPooling1D", "GlobalAveragePooling1D"}) {
    behind_dense(kind, absl::StrCat(kind, ": {}"));
    behind_dense(absl::StrCat(kind, "_keepdims"),
                 absl::StrCat(kind, ": {keepdims: true}"));
  }
  behind_dense("padded", "ZeroPadding1D: {padding: [2, 0]}");
  behind_dense("cropped", "Cropping1D: {cropping: [0, 3]}");
  behind_dense("repeated", "UpSampling1D: {size: 3}");
  behind_dense("permuted", "Permute: {dims: [2, 1]}");
  behind_dense("prelu", "PReLU: {alpha_initializer: ones}");
  behind_dense("prelu_shared",
               "PReLU: {shared_axes: [1], alpha_regularizer: l2}");
  behind_dense("leaky_relu", "LeakyReLU: {negative_slope: 0.2}");
  behind_dense("elu", "ELU: {alpha: 0.4}");
  behind_dense("vectors", "Flatten: {}, RepeatVector: {n: 5}");
  return cases;
}

std::vector<Case> RecurrentCases() {
  std::vector<Case> cases;
  const auto behind_dense = [&cases](const std::string& layers) {
    cases.push_back(
        Layers(absl::StrCat("recurrent_", cases.size()),
               absl::StrCat("[Input: {shape: [5, 3]}, Dense: {units: 4}, ",
                            layers, ", Dense: {units: 2}]")));
  };
  for (const char* config :
       {"return_sequences: true", "go_backwards: true, use_bias: false",
        "return_sequences: true, go_backwards: true",
        "activation: relu, recurrent_regularizer: l2",
        "dropout: 0.3, return_sequences: true",
        "dropout: 0.3, recurrent_dropout: 0.4"}) {
    for (const char* layer : {"LSTM", "GRU", "SimpleRNN"}) {
      behind_dense(absl::StrCat(layer, ": {units: 3, ", config, "}"));
    }
  }
  behind_dense(
      "LSTM: {units: 3, recurrent_activation: hard_sigmoid, "
      "unit_forget_bias: false}");
  behind_dense("GRU: {units: 3, reset_after: false, return_sequences: true}");
  behind_dense("LSTM: {units: 3, return_sequences: true}, GRU: {units: 5}");
  return cases;
}

std::vector<Case> WrappedLayerCases() {
  const auto behind_dense = [](const std::string& name,
                               const std::string& layer) {
    return Layers(name, "[Input: {shape: [5, 3]}, Dense: {units: 4}, " + layer +
                            ", Dense: {units: 2}]");
  };
  return {
      behind_dense("bidirectional_lstm",
                   "Bidirectional: {layer: {LSTM: {units: 3, "
                   "return_sequences: true, dropout: 0.3}}}"),
      behind_dense("bidirectional_gru",
                   "Bidirectional: {merge_mode: ave, layer: {GRU: {units: 3, "
                   "trainable: false}}}"),
      behind_dense("time_distributed",
                   "TimeDistributed: {layer: {Dense: {units: 3, activation: "
                   "softmax, kernel_regularizer: l2}}}"),
      Layers("time_distributed_convolution",
             "[Input: {shape: [3, 4, 4, 2]}, TimeDistributed: {layer: {Conv2D: "
             "{filters: 3, kernel_size: 3, activation: relu}}}, "
             "Dense: {units: 2}]"),
  };
}

// The gradient of a key's bias is 0 but for its penalty, since softmax does not
// see a number that is added to all scores of a query.
std::vector<Case> AttentionCases() {
  const auto attention = [](const std::string& name, const std::string& config,
                            const std::string& inputs) {
    return Layers(
        absl::StrCat("attention_", name),
        absl::StrCat("[Input: {shape: [7, 3], name: in}, Dense: {units: 4, "
                     "name: x}, {Conv1D: {filters: 6, kernel_size: 3, name: "
                     "query}, inputs: [x]}, {MultiHeadAttention: {num_heads: "
                     "2, key_dim: 3, ",
                     config, "}, inputs: ", inputs, "}, Dense: {units: 2}]"));
  };
  return {
      attention("of_one", "use_bias: false", "[query, query]"),
      attention("causal", "use_bias: false, use_causal_mask: true",
                "[query, query]"),
      attention("of_two",
                "kernel_regularizer: l2, bias_regularizer: {L2: {l2: 0.5}}",
                "[query, x]"),
      attention("of_three",
                "use_bias: false, value_dim: 5, output_shape: 3, dropout: 0.4",
                "[query, x, in]"),
  };
}

std::vector<Case> NoiseCases() {
  const auto behind_dense = [](const std::string& name,
                               const std::string& layer) {
    return Layers(name, "[Input: {shape: [5, 3]}, Dense: {units: 4}, " + layer +
                            ", Dense: {units: 2}]");
  };
  return {
      behind_dense("dropout_of_channels",
                   "Dropout: {rate: 0.4, noise_shape: [null, 1, 4]}"),
      behind_dense("dropout_of_examples",
                   "Dropout: {rate: 0.4, noise_shape: [null, 1, 1]}"),
      behind_dense("dropout_of_nothing", "Dropout: {rate: 0}"),
      behind_dense("spatial_dropout_1d", "SpatialDropout1D: {rate: 0.4}"),
      behind_dense("alpha_dropout",
                   "AlphaDropout: {rate: 0.4, noise_shape: [null, 5, 1]}"),
      behind_dense("gaussian_dropout", "GaussianDropout: {rate: 0.4}"),
      behind_dense("gaussian_noise", "GaussianNoise: {stddev: 0.4, seed: 5}"),
      Layers("spatial_dropout_2d",
             "[Input: {shape: [4, 3, 2]}, Conv2D: {filters: 5, kernel_size: 1},"
             " SpatialDropout2D: {rate: 0.4}, Dense: {units: 2}]"),
  };
}

}  // namespace paceline
