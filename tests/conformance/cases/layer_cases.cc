#include <set>

#include "absl/strings/str_cat.h"
#include "common/config/codec.h"
#include "common/model/activation.h"
#include "tests/conformance/cases/lists.h"

namespace paceline {

std::vector<Case> DenseCases() {
  return {
      Layers("dense", "[Input: {shape: [5]}, Dense: {units: 3}]"),
      Layers("dense_one_by_one", "[Input: {shape: [1]}, Dense: {units: 1}]"),
      Layers("dense_no_bias",
             "[Input: {shape: [5]}, Dense: {units: 3, use_bias: false}]"),
      Layers("dense_rows",
             "[Input: {shape: [2, 3, 5]}, Dense: {units: 4, activation: tanh},"
             " Dense: {units: 2}]"),
      Layers(
          "dense_row_softmax",
          "[Input: {shape: [3, 5]}, Dense: {units: 4, activation: softmax}]"),
      Layers("dense_wide",
             "[Input: {shape: [67]}, Dense: {units: 33, activation: relu},"
             " Dense: {units: 17}]"),
      Layers("dropout",
             "[Input: {shape: [5]}, Dense: {units: 13}, Dropout: {rate: 0.4},"
             " Dense: {units: 3}]"),
      Layers("dropout_seed",
             "[Input: {shape: [2, 3]}, Dense: {units: 5},"
             " Dropout: {rate: 0.7, seed: 5}]"),
      Layers("relu", "[Input: {shape: [5]}, Dense: {units: 9}, ReLU: {}]"),
      Layers("relu_all",
             "[Input: {shape: [5]}, Dense: {units: 30},"
             " ReLU: {max_value: 0.5, negative_slope: 0.1, threshold: 0.2}]"),
      Layers("relu_layer_pooled",
             "[Input: {shape: [5, 6, 2]}, Conv2D: {filters: 3, kernel_size: 1,"
             " activation: tanh}, Activation: {activation: relu},"
             " MaxPooling2D: {}]"),
      Layers("softmax",
             "[Input: {shape: [3, 5]}, Dense: {units: 4}, Softmax: {}]"),
      Layers("softmax_axis",
             "[Input: {shape: [3, 5]}, Dense: {units: 4}, Softmax: {axis: 1}]"),
      Layers("reshape",
             "[Input: {shape: [6]}, Dense: {units: 8},"
             " Reshape: {target_shape: [2, -1, 2]}, Dense: {units: 3},"
             " Flatten: {}, Dense: {units: 2}]"),
      Layers("l1",
             "[Input: {shape: [5]},"
             " Dense: {units: 4, kernel_regularizer: {L1: {l1: 0.3}},"
             " bias_regularizer: l1}, Dense: {units: 2}]"),
      Layers("l2",
             "[Input: {shape: [5]},"
             " Dense: {units: 4, kernel_regularizer: {L2: {l2: 0.3}}}]"),
      Layers("l1_l2",
             "[Input: {shape: [5]}, Dense: {units: 4,"
             " kernel_regularizer: {L1L2: {l1: 0.1, l2: 0.2}}}]"),
  };
}

std::vector<Case> ActivityPenaltyCases() {
  const std::string l1 = ", activity_regularizer: {L1: {l1: 0.3}}}";
  const std::string l2 = ", activity_regularizer: {L2: {l2: 0.2}}}";
  return {
      Layers("activity_l1", "[Input: {shape: [5]}, Dense: {units: 4" + l1 +
                                ", Dense: {units: 2}]"),
      Layers("activity_l2",
             "[Input: {shape: [3, 5]}, Dense: {units: 4, activation: tanh" +
                 l2 + ", Dense: {units: 2}]"),
      Layers("activity_layer",
             "[Input: {shape: [2, 3]}, ActivityRegularization: {l1: 0.1},"
             " Dense: {units: 4}, ActivityRegularization: {l1: 0.1, l2: 0.2},"
             " Dense: {units: 2}, ActivityRegularization: {l2: 0.3}]"),
      Layers("activity_of_nothing",
             "[Input: {shape: [5]}, ActivityRegularization: {},"
             " Dense: {units: 4, activity_regularizer: L1L2}]"),
      // A loss reads what is before the activation, a penalty what is behind.
      {"activity_of_probabilities",
       {.layers = Yaml("[Input: {shape: [5]},"
                       " Dense: {units: 4, activation: softmax" +
                       l2 + ", ActivityRegularization: {l1: 0.1, l2: 0.2}]"),
        .loss = "SparseCategoricalCrossentropy",
        .class_weight = {{"0", 2}, {"1", 0.5}}}},
      // A device must not fuse what reads an output with a penalty into the
      // layer before.
      Layers("activity_before_pooling",
             "[Input: {shape: [6, 6, 2]},"
             " Conv2D: {filters: 4, kernel_size: 3, activation: relu" +
                 l1 + ", MaxPooling2D: {}, Flatten: {}, Dense: {units: 2}]"),
      Layers("activity_before_rectifier",
             "[Input: {shape: [6, 5, 3]}, Conv2D: {filters: 4, kernel_size: 3,"
             " use_bias: false" +
                 l2 + ", BatchNormalization: {momentum: 0.9" + l1 +
                 ", ReLU: {name: r" + l2 +
                 ", Conv2D: {filters: 2, kernel_size: 1}]"),
      Layers("activity_shared",
             "[Input: {shape: [4]}, Dense: {units: 4, name: d,"
             " activation: tanh" +
                 l1 + ", Call: {layer: d}, Dense: {units: 2}]"),
      Layers("activity_frozen",
             "[Input: {shape: [5]}, Dense: {units: 4, trainable: false" + l1 +
                 ", Dense: {units: 3}, Dense: {units: 2, trainable: false" +
                 l2 + "]"),
      Layers("activity_masked",
             "[Input: {shape: [7]}, Embedding: {input_dim: 5, output_dim: 4,"
             " mask_zero: true" +
                 l1 + ", LSTM: {units: 3, return_sequences: true" + l2 +
                 ", Dense: {units: 2}]"),
  };
}

std::vector<Case> RescalingCases() {
  return {
      Layers("rescaling",
             "[Input: {shape: [4, 3]}, Rescaling: {scale: 0.5, offset: -1},"
             " Dense: {units: 5}, Rescaling: {scale: 2}, Dense: {units: 2}]"),
      Layers("rescaling_channels",
             "[Input: {shape: [4, 3]}, Dense: {units: 3},"
             " Rescaling: {scale: [1, 2, -3], offset: [0.5, 0, 1]}]"),
  };
}

std::vector<Case> EmbeddingCases() {
  return {
      Layers("embedding",
             "[Input: {shape: [7]}, Embedding: {input_dim: 11, output_dim: 5},"
             " Dense: {units: 3, activation: tanh}]"),
      Layers("embedding_one",
             "[Input: {shape: [1]}, Embedding: {input_dim: 1, output_dim: 1,"
             " embeddings_regularizer: l2}, Flatten: {}, Dense: {units: 2}]"),
      // Two tables read the same ids; the smaller table limits their range.
      Layers("embedding_twice",
             "[Input: {shape: [2, 3], name: in},"
             " Embedding: {input_dim: 9, output_dim: 4, name: a},"
             " {Embedding: {input_dim: 6, output_dim: 4, name: b},"
             " inputs: [in]}, {Multiply: {}, inputs: [a, b]},"
             " Dense: {units: 2}]"),
  };
}

std::vector<Case> ActivationCases() {
  std::vector<Case> cases;
  std::set<ActivationFunction> seen;
  for (const auto& [function, name] : EnumNames(ActivationFunction())) {
    if (!seen.insert(function).second) continue;
    cases.push_back(Layers(
        absl::StrCat("activation_", name),
        absl::StrCat(
            "[Input: {shape: [8]}, Dense: {units: 11, activation: ", name,
            "}, Dense: {units: 7}, Activation: {activation: ", name, "}]")));
  }
  for (const char* name : {"relu", "tanh", "gelu", "softmax"}) {
    cases.push_back(
        Layers(absl::StrCat("conv_", name),
               absl::StrCat("[Input: {shape: [5, 4, 2]}, Conv2D: {filters: 3,"
                            " kernel_size: 3, activation: ",
                            name, "}, Flatten: {}, Dense: {units: 2}]")));
  }
  return cases;
}

}  // namespace paceline
