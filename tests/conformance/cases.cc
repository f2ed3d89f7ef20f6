#include "tests/conformance/cases.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "common/config/codec.h"
#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "common/model/activation.h"
#include "glog/logging.h"

namespace paceline {
namespace {

Value Yaml(const std::string& text) {
  const auto value = ReadYaml(text, "case", limits::kMaxJobBytes);
  CHECK(value.ok()) << value.status();
  return *value;
}

// A case under mean squared error.
Case Layers(const std::string& name, const std::string& layers) {
  return {name, {.layers = Yaml(layers)}};
}

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
  };
}

// Rectifiers that a device may fuse with the normalization before them, and
// some that it may not.
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
      rectified("slope", "ReLU: {negative_slope: 0.1, max_value: 0.5}"),
      rectified("threshold", "ReLU: {threshold: 0.2}"),
      rectified("pooled", "Activation: {activation: relu}, MaxPooling2D: {}"),
      rectified("read_twice", "ReLU: {name: r}, {Add: {}, inputs: [r, n]}"),
      rectified("twice", "ReLU: {}, ReLU: {max_value: 0.5}"),
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
      Layers("layer_normalization_wide",
             "[Input: {shape: [201]}, LayerNormalization: {},"
             " Dense: {units: 2}]"),
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

std::vector<Case> UpSamplingCases() {
  std::vector<Case> cases;
  for (const char* kind : {"nearest", "bilinear"}) {
    for (const char* size : {"2", "[3, 1]", "[1, 4]"}) {
      cases.push_back(
          Layers(absl::StrCat("up_sampling_", kind, "_", cases.size()),
                 absl::StrCat("[Input: {shape: [4, 3, 2]}, Conv2D: {filters: 3,"
                              " kernel_size: 1}, UpSampling2D: {size: ",
                              size, ", interpolation: ", kind,
                              "}, Conv2D: {filters: 2, kernel_size: 2}]")));
    }
  }
  return cases;
}

std::vector<Case> EmbeddingCases() {
  return {
      Layers("embedding",
             "[Input: {shape: [7]}, Embedding: {input_dim: 11, output_dim: 5},"
             " Dense: {units: 3, activation: tanh}]"),
      Layers("embedding_one",
             "[Input: {shape: [1]}, Embedding: {input_dim: 1, output_dim: 1,"
             " embeddings_regularizer: l2}, Flatten: {}, Dense: {units: 2}]"),
      // Two tables; the smaller says which ids there are.
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

// Every combination of kernel, step, padding and distance, behind a convolution
// whose gradient needs theirs.
std::vector<Case> ConvolutionCases() {
  std::vector<Case> cases;
  const auto add = [&cases](const std::string& name,
                            const std::string& config) {
    cases.push_back(Layers(
        name, absl::StrCat("[Input: {shape: [9, 7, 3]}, Conv2D: {filters: 2, "
                           "kernel_size: 1}, Conv2D: {filters: 5, ",
                           config, "}]")));
  };
  for (const char* padding : {"valid", "same"}) {
    for (const char* kernel : {"1", "3", "[2, 4]", "5"}) {
      for (const char* strides : {"1", "2", "[1, 3]"}) {
        add(absl::StrCat("conv_", cases.size(), "_", padding),
            absl::StrCat("kernel_size: ", kernel, ", strides: ", strides,
                         ", padding: ", padding));
      }
    }
    for (const char* dilation : {"2", "[1, 3]"}) {
      add(absl::StrCat("conv_", cases.size(), "_", padding, "_dilated"),
          absl::StrCat("kernel_size: [3, 2], dilation_rate: ", dilation,
                       ", padding: ", padding));
    }
  }
  add("conv_no_bias", "kernel_size: 3, use_bias: false");
  cases.push_back(Layers("conv_first",
                         "[Input: {shape: [6, 5, 1]},"
                         " Conv2D: {filters: 17, kernel_size: 3}]"));
  cases.push_back(Layers("conv_pixel",
                         "[Input: {shape: [1, 1, 1]},"
                         " Conv2D: {filters: 1, kernel_size: 1}]"));
  return cases;
}

// Convolutions in groups, behind one whose gradient needs theirs.
std::vector<Case> GroupedConvolutionCases() {
  const auto behind = [](const std::string& name, int channels,
                         const std::string& layer) {
    return Layers(name,
                  absl::StrCat("[Input: {shape: [7, 6, 3]}, Conv2D: "
                               "{filters: ",
                               channels, ", kernel_size: 1}, ", layer, "]"));
  };
  std::vector<Case> cases;
  for (const char* more :
       {"kernel_size: 3", "kernel_size: [2, 3], padding: same, strides: 2",
        "kernel_size: 3, dilation_rate: [2, 1], use_bias: false",
        "kernel_size: 3, padding: same, activation: relu"}) {
    const auto named = [&](const char* kind) {
      return absl::StrCat(kind, "_", cases.size());
    };
    const std::string config = more;
    cases.push_back(behind(named("grouped"), 6,
                           "Conv2D: {filters: 4, groups: 2, " + config + "}"));
    cases.push_back(behind(named("grouped_wide"), 32,
                           "Conv2D: {filters: 48, groups: 2, " + config + "}"));
    cases.push_back(
        behind(named("wide"), 64, "Conv2D: {filters: 48, " + config + "}"));
    cases.push_back(
        behind(named("depthwise"), 5, "DepthwiseConv2D: {" + config + "}"));
    cases.push_back(behind(named("depthwise_wide"), 35,
                           "DepthwiseConv2D: {" + config + "}"));
    cases.push_back(
        behind(named("depthwise_multiplied"), 3,
               "DepthwiseConv2D: {depth_multiplier: 3, " + config + "}"));
    cases.push_back(behind(
        named("separable"), 4,
        "SeparableConv2D: {filters: 5, depth_multiplier: 2, " + config + "}"));
  }
  // More than is gathered at a time.
  cases.push_back(Layers("wide_large",
                         "[Input: {shape: [40, 40, 64]}, Conv2D: {filters: 8,"
                         " kernel_size: 3, strides: [1, 2]}]"));
  cases.push_back(
      behind("depthwise_of_one", 1, "DepthwiseConv2D: {kernel_size: 3}"));
  cases.push_back(behind(
      "separable_regularized", 3,
      "SeparableConv2D: {filters: 2, kernel_size: 3, depthwise_regularizer: l2,"
      " pointwise_regularizer: l1, bias_regularizer: l2}"));
  cases.push_back(behind("zero_padding", 3,
                         "ZeroPadding2D: {padding: [[0, 1], [2, 3]]},"
                         " Conv2D: {filters: 2, kernel_size: 3}"));
  cases.push_back(behind("zero_padding_none", 3,
                         "ZeroPadding2D: {padding: 0}, Flatten: {},"
                         " Dense: {units: 2}"));
  return cases;
}

std::vector<Case> PoolingCases() {
  std::vector<Case> cases;
  for (const char* kind : {"MaxPooling2D", "AveragePooling2D"}) {
    for (const char* padding : {"valid", "same"}) {
      for (const char* window :
           {"pool_size: 2", "pool_size: 3, strides: 2",
            "pool_size: 2, strides: 3", "pool_size: [1, 4], strides: 1"}) {
        cases.push_back(Layers(
            absl::StrCat(kind, "_", cases.size(), "_", padding),
            absl::StrCat("[Input: {shape: [7, 6, 2]}, Conv2D: {filters: 3,"
                         " kernel_size: 1}, ",
                         kind, ": {", window, ", padding: ", padding, "}]")));
      }
    }
    // As in the tutorial's network: an activation that a device may fuse.
    cases.push_back(
        Layers(absl::StrCat(kind, "_relu"),
               absl::StrCat("[Input: {shape: [9, 9, 1]}, Conv2D: {filters: 4,"
                            " kernel_size: 3, activation: relu}, ",
                            kind, ": {}, Flatten: {}, Dense: {units: 2}]")));
  }
  for (const char* keepdims : {"false", "true"}) {
    cases.push_back(Layers(
        absl::StrCat("global_average_keepdims_", keepdims),
        absl::StrCat("[Input: {shape: [5, 3, 2]}, Conv2D: {filters: 3,"
                     " kernel_size: 2}, GlobalAveragePooling2D: {keepdims: ",
                     keepdims, "}]")));
  }
  return cases;
}

std::vector<Case> LossCases() {
  const std::string logits = "[Input: {shape: [6]}, Dense: {units: 5}]";
  const auto activated = [](const char* activation) {
    return absl::StrCat("[Input: {shape: [6]}, Dense: {units: 5, activation: ",
                        activation, "}]");
  };
  // Flatten hides the logits from the loss.
  const auto hidden = [](const char* activation) {
    return absl::StrCat("[Input: {shape: [6]}, Dense: {units: 5, activation: ",
                        activation, "}, Flatten: {}]");
  };
  std::vector<Case> cases;
  const auto add = [&cases](const std::string& name, const std::string& layers,
                            const std::string& loss) {
    cases.push_back({name, {.layers = Yaml(layers), .loss = Yaml(loss)}});
  };
  constexpr std::pair<const char*, const char*> kLosses[] = {
      {"SparseCategoricalCrossentropy", "softmax"},
      {"CategoricalCrossentropy", "softmax"},
      {"BinaryCrossentropy", "sigmoid"},
  };
  for (const auto& [loss, activation] : kLosses) {
    const std::string name = loss;
    add(name + "_logits", logits, "{" + name + ": {from_logits: true}}");
    add(name + "_traced", activated(activation), name);
    add(name + "_hidden", hidden(activation), name);
    add(name + "_other_activation", hidden("hard_sigmoid"), name);
  }
  for (const char* loss : {"CategoricalCrossentropy", "BinaryCrossentropy"}) {
    const std::string name = loss;
    add(name + "_smooth", logits,
        "{" + name + ": {from_logits: true, label_smoothing: 0.2}}");
    add(name + "_smooth_hidden", hidden("softmax"),
        "{" + name + ": {label_smoothing: 0.2}}");
    add(name + "_rows", "[Input: {shape: [2, 6]}, Dense: {units: 5}]",
        "{" + name + ": {from_logits: true}}");
    add(name + "_rows_hidden",
        "[Input: {shape: [2, 6]}, Dense: {units: 5, activation: sigmoid},"
        " Reshape: {target_shape: [2, 5]}]",
        name);
  }
  add("softmax_layer_traced",
      "[Input: {shape: [6]}, Dense: {units: 5}, Softmax: {}]",
      "categorical_crossentropy");
  add("activation_layer_traced",
      "[Input: {shape: [6]}, Dense: {units: 5}, Activation: {activation: "
      "sigmoid}]",
      "binary_crossentropy");
  add("two_classes", "[Input: {shape: [6]}, Dense: {units: 2}]",
      "{SparseCategoricalCrossentropy: {from_logits: true}}");
  return cases;
}

std::vector<Case> MetricCases() {
  const Value dense = Yaml("[Input: {shape: [6]}, Dense: {units: 8}]");
  return {
      {"metrics_sparse",
       {.layers = dense,
        .loss = Yaml("{SparseCategoricalCrossentropy: {from_logits: true}}"),
        .metrics = Yaml("[accuracy, SparseTopKCategoricalAccuracy: {k: 3},"
                        " sparse_categorical_crossentropy]")}},
      {"metrics_dense",
       {.layers = Yaml("[Input: {shape: [6]}, Dense: {units: 8, activation: "
                       "softmax}]"),
        .loss = Yaml("categorical_crossentropy"),
        .metrics = Yaml("[accuracy, TopKCategoricalAccuracy: {k: 3},"
                        " BinaryAccuracy: {threshold: 0.1}, mse, bce,"
                        " categorical_crossentropy]")}},
      {"metrics_rows",
       {.layers = Yaml("[Input: {shape: [4, 6]}, Dense: {units: 3}]"),
        .metrics = Yaml("[accuracy, binary_accuracy]")}},
      {"metrics_binary",
       {.layers = Yaml("[Input: {shape: [6]}, Dense: {units: 1}]"),
        .loss = Yaml("{BinaryCrossentropy: {from_logits: true}}"),
        .metrics = Yaml("[accuracy]")}},
  };
}

// Layers that read others than the one before them.
std::vector<Case> GraphCases() {
  const auto graph = [](const std::string& name, const std::string& layers) {
    return Layers(name,
                  "[Input: {shape: [5, 4, 3], name: in}, " + layers + "]");
  };
  const auto conv = [](const std::string& name, const std::string& more = "") {
    return "Conv2D: {filters: 3, kernel_size: 1, name: " + name + more + "}";
  };
  const std::string relu = ", activation: relu";
  const auto merged = [&](const std::string& merge) {
    return conv("a") + ", {" + conv("b") + ", inputs: [in]}, {" +
           conv("c", relu) + ", inputs: [a]}, {" + merge +
           ", inputs: [a, b, c]}, Dense: {units: 2}";
  };
  return {
      graph("add", merged("Add: {}")),
      graph("multiply", merged("Multiply: {}")),
      graph("concatenate", merged("Concatenate: {}")),
      graph("concatenate_height", merged("Concatenate: {axis: 1}")),
      graph("concatenate_width", merged("Concatenate: {axis: -2}")),
      graph("concatenate_unequal",
            conv("a") + ", {Conv2D: {filters: 5, kernel_size: 1, name: b}," +
                " inputs: [in]}, {Concatenate: {}, inputs: [b, in, a]}"),
      // A residual block; the rectifier is read twice.
      graph("residual",
            conv("a", relu) + ", " + conv("b", relu) + ", " + conv("c") +
                ", {Add: {}, inputs: [c, a]}, ReLU: {}, Dense: {units: 2}"),
      graph("add_twice", conv("a", relu) +
                             ", {Add: {name: s}, inputs: [a, a]}," +
                             " {Add: {}, inputs: [s, a, a]}"),
      graph("multiply_twice",
            conv("a") + ", {Multiply: {}, inputs: [a, a, in]}"),
      // One gradient for several layers that change it in place.
      graph("shared_gradient",
            conv("a") + ", {ReLU: {name: r}, inputs: [a]}, {" +
                conv("s", ", activation: tanh") +
                ", inputs: [a]}, {Dropout: {rate: 0.4, name: d}, inputs: [a]},"
                " {Activation: {activation: softmax, name: m}, inputs: [a]},"
                " {Reshape: {target_shape: [5, 4, 3], name: e}, inputs: [a]},"
                " {Add: {}, inputs: [r, s, d, m, e, a]}"),
      // Pooling may go back through a rectifier only if nobody else reads it.
      graph("pooled_and_read",
            conv("a", relu) +
                ", {MaxPooling2D: {pool_size: 2, strides: 1, padding: same,"
                " name: p}, inputs: [a]}, {Add: {}, inputs: [p, a]}"),
      // Branches without variables, and one that starts at the input.
      graph(
          "no_variables_before",
          "{ReLU: {name: r}, inputs: [in]}, {Add: {name: s}, inputs: [r, in]},"
          " {Dense: {units: 3, name: d}, inputs: [s]},"
          " {Multiply: {}, inputs: [d, s]}"),
      graph("branches_with_statistics",
            conv("a", ", use_bias: false") +
                ", {BatchNormalization: {name: b}, inputs: [a]},"
                " {BatchNormalization: {name: c, synchronized: true},"
                " inputs: [a]}, {Add: {}, inputs: [c, b]}, ReLU: {},"
                " GlobalAveragePooling2D: {}, Dense: {units: 2}"),
  };
}

// Layers whose variables stay, behind, between and before others.
std::vector<Case> FrozenCases() {
  const std::string frozen = ", trainable: false}";
  return {
      Layers("frozen_dense",
             "[Input: {shape: [5]}, Dense: {units: 4, activation: relu" +
                 frozen +
                 ", Dense: {units: 3, activation: tanh}, Dense: {units: 4,"
                 " kernel_regularizer: l2" +
                 frozen + ", Dense: {units: 2}]"),
      Layers("frozen_last",
             "[Input: {shape: [5]}, Dense: {units: 4}, Dense: {units: 2" +
                 frozen + "]"),
      Layers("frozen_images",
             "[Input: {shape: [6, 5, 2]}, Conv2D: {filters: 3, kernel_size: 2},"
             " DepthwiseConv2D: {kernel_size: 2" +
                 frozen + ", BatchNormalization: {momentum: 0.5" + frozen +
                 ", SeparableConv2D: {filters: 2, kernel_size: 2" + frozen +
                 ", LayerNormalization: {epsilon: 0.1" + frozen +
                 ", Conv2D: {filters: 2, kernel_size: 1" + frozen +
                 ", Flatten: {}, Dense: {units: 2}]"),
      Layers("frozen_normalization",
             "[Input: {shape: [5]}, Dense: {units: 4, use_bias: false},"
             " BatchNormalization:"
             " {center: false, scale: false, synchronized: true" +
                 frozen +
                 ", BatchNormalization: {}, ReLU: {}, Dense: {units: 2}]"),
      Layers("frozen_branch",
             "[Input: {shape: [5], name: in}, Dense: {units: 4, name: a" +
                 frozen +
                 ", {Dense: {units: 4, name: b}, inputs: [in]},"
                 " {Multiply: {}, inputs: [a, b]}, Dense: {units: 2}]"),
      Layers("frozen_embedding",
             "[Input: {shape: [3]}, Embedding: {input_dim: 6, output_dim: 4" +
                 frozen + ", Dense: {units: 2}]"),
      Layers("frozen_all",
             "[Input: {shape: [3]}, Dense: {units: 2" + frozen + "]"),
  };
}

std::vector<Case> NetworkCases() {
  return {
      {"network",
       {.layers = Yaml("[Input: {shape: [12, 11, 1]}, Conv2D: {filters: 6,"
                       " kernel_size: 3, activation: relu}, MaxPooling2D: {},"
                       " Conv2D: {filters: 5, kernel_size: 3, padding: same,"
                       " activation: elu}, AveragePooling2D: {}, Flatten: {},"
                       " Dropout: {rate: 0.3},"
                       " Dense: {units: 9, activation: relu,"
                       " kernel_regularizer: l2}, Dense: {units: 10}]"),
        .loss = Yaml("{SparseCategoricalCrossentropy: {from_logits: true}}"),
        .metrics = Yaml("[accuracy]")}},
  };
}

}  // namespace

const std::vector<Case>& Cases() {
  static const auto& cases = *[] {
    auto* all = new std::vector<Case>;
    for (auto* some :
         {DenseCases, NormalizationCases, RectifiedNormalizationCases,
          LayerNormalizationCases, RescalingCases, UpSamplingCases,
          EmbeddingCases, ActivationCases, ConvolutionCases,
          GroupedConvolutionCases, PoolingCases, LossCases, MetricCases,
          GraphCases, FrozenCases, NetworkCases}) {
      for (Case& each : some()) all->push_back(std::move(each));
    }
    return all;
  }();
  return cases;
}

}  // namespace paceline
