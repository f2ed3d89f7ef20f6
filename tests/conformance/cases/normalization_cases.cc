#include "tests/conformance/cases/lists.h"

namespace paceline {

std::vector<Case> NormalizationCases() {
  return {
      Layers("batch_normalization",
             "[Input: {shape: [5]},"
             " BatchNormalization: {momentum: 0.5, epsilon: 0.1},"
             " Dense: {units: 3}]"),
      Layers("batch_normalization_bare",
             "[Input: {shape: [4, 5]}, Dense: {units: 17, use_bias: false},"
             " BatchNormalization: {center: false, scale: false},"
             " Dense: {units: 2}]"),
      Layers("batch_normalization_center",
             "[Input: {shape: [4, 5]}, Dense: {units: 3, use_bias: false},"
             " BatchNormalization: {scale: false, beta_regularizer: l2},"
             " ReLU: {}, Dense: {units: 2}]"),
      Layers("batch_normalization_scale",
             "[Input: {shape: [4, 5]}, Dense: {units: 3, use_bias: false},"
             " BatchNormalization: {center: false, gamma_regularizer: l1},"
             " Dense: {units: 2}]"),
      Layers("batch_normalization_images",
             "[Input: {shape: [9, 8, 3]},"
             " Conv2D: {filters: 37, kernel_size: 3, use_bias: false},"
             " BatchNormalization: {}, ReLU: {},"
             " Conv2D: {filters: 5, kernel_size: 3, use_bias: false},"
             " BatchNormalization: {synchronized: true},"
             " Flatten: {}, Dense: {units: 3}]"),
      Layers("batch_normalization_between_convolutions",
             "[Input: {shape: [7, 6, 3]},"
             " Conv2D: {filters: 18, kernel_size: 1, use_bias: false},"
             " BatchNormalization: {}, ReLU: {max_value: 6},"
             " ZeroPadding2D: {padding: [[0, 1], [1, 0]]},"
             " DepthwiseConv2D: {kernel_size: 3, strides: 2, use_bias: false},"
             " BatchNormalization: {synchronized: true},"
             " Conv2D: {filters: 4, kernel_size: 1},"
             " BatchNormalization: {trainable: false, name: b},"
             " {Conv2D: {filters: 4, kernel_size: 1, name: c}, inputs: [b]},"
             " {Add: {}, inputs: [b, c]}, Flatten: {}, Dense: {units: 2}]"),
  };
}

std::vector<Case> RectifiedNormalizationCases() {
  const auto rectified = [](const std::string& name,
                            const std::string& layers) {
    return Layers("rectified_" + name,
                  "[Input: {shape: [6, 5, 2]}, Conv2D: {filters: 35,"
                  " kernel_size: 2, use_bias: false},"
                  " BatchNormalization: {name: n}, " +
                      layers + ", Flatten: {}, Dense: {units: 2}]");
  };
  return {
      rectified("relu", "Activation: {activation: relu}"),
      rectified("relu6", "Activation: {activation: relu6}"),
      rectified("ceiling", "ReLU: {max_value: 0.75}"),
      rectified("slope", "ReLU: {negative_slope: 0.1, max_value: 0.6}"),
      rectified("threshold", "ReLU: {threshold: 0.2}"),
      rectified("pooled", "Activation: {activation: relu}, MaxPooling2D: {}"),
      rectified("read_twice", "ReLU: {name: r}, {Add: {}, inputs: [r, n]}"),
      rectified("twice", "ReLU: {}, ReLU: {max_value: 0.4}"),
      Layers("rectified_last",
             "[Input: {shape: [5]}, Dense: {units: 4}, BatchNormalization:"
             " {epsilon: 0.1}, ReLU: {}]"),
      Layers("rectified_frozen",
             "[Input: {shape: [5]}, Dense: {units: 4}, BatchNormalization:"
             " {trainable: false}, ReLU: {max_value: 1}, Dense: {units: 2}]"),
  };
}

std::vector<Case> LayerNormalizationCases() {
  const auto normalized = [](const std::string& name,
                             const std::string& config) {
    return Layers("layer_normalization" + name,
                  "[Input: {shape: [3, 2, 5]}, Dense: {units: 7},"
                  " LayerNormalization: " +
                      config + ", Dense: {units: 2, activation: tanh}]");
  };
  return {
      normalized("", "{}"),
      normalized("_axes", "{axis: [2, -1], epsilon: 0.1}"),
      normalized("_all", "{axis: [1, 2, 3]}"),
      normalized("_bare", "{center: false, scale: false}"),
      normalized("_center", "{scale: false, beta_regularizer: l2}"),
      normalized("_scale", "{center: false, gamma_regularizer: l1}"),
      Layers("group_normalization",
             "[Input: {shape: [3, 2, 5]}, Dense: {units: 6},"
             " GroupNormalization: {groups: 3, beta_regularizer: l2},"
             " GroupNormalization: {groups: 3, axis: 1, center: false},"
             " GroupNormalization: {groups: -1, axis: 2, scale: false},"
             " GroupNormalization: {groups: 1}, Dense: {units: 2}]"),
      // More columns than a kernel processes at a time.
      Layers("group_normalization_wide",
             "[Input: {shape: [3, 4]}, Dense: {units: 150},"
             " GroupNormalization: {groups: 50},"
             " GroupNormalization: {groups: 2}, Dense: {units: 2}]"),
      // Squares of 600 are beyond float16.
      Layers("group_normalization_of_large_inputs",
             "[Input: {shape: [6, 4]}, Rescaling: {scale: 600},"
             " GroupNormalization: {groups: 2}, Dense: {units: 5},"
             " Dense: {units: 2}]"),
      Layers("layer_normalization_wide",
             "[Input: {shape: [201]}, LayerNormalization: {},"
             " Dense: {units: 2}]"),
  };
}

std::vector<Case> FixedNormalizationCases() {
  const auto normalized = [](const std::string& name,
                             const std::string& config) {
    return Layers("normalization_" + name,
                  "[Input: {shape: [2, 3, 4]}, Dense: {units: 5},"
                  " Normalization: {" +
                      config + "}, Dense: {units: 2}]");
  };
  return {
      Layers("normalization",
             "[Input: {shape: [5]}, Normalization: {}, Dense: {units: 2}]"),
      normalized("axes", "axis: [1, -1]"),
      normalized("of_all", "axis: null, invert: true"),
      normalized("given", "mean: [1, 2, 3, 4, 5], variance: [4, 3, 2, 1, 0.5]"),
      normalized("given_middle",
                 "axis: [1, 2], mean: [1, 2, 3],"
                 " variance: [0.1, 0.2, 0.3], invert: true"),
      normalized("given_for_all", "axis: null, mean: 0.5, variance: 0.04"),
  };
}

}  // namespace paceline
