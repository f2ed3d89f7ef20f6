#include "tests/conformance/cases/lists.h"

namespace paceline {

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
      graph("average", merged("Average: {}")),
      graph("maximum", merged("Maximum: {}")),
      graph("minimum", merged("Minimum: {}")),
      graph("subtract", conv("a") + ", {" + conv("b", relu) +
                            ", inputs: [in]}, {Subtract: {}, inputs: [b, a]},"
                            " Dense: {units: 2}"),
      graph("dot", conv("a") + ", {" + conv("b") +
                       ", inputs: [in]}, {Dot: {axes: 1, normalize: true}, "
                       "inputs: [b, a]}, Flatten: {}, Dense: {units: 2}"),
      graph("concatenate", merged("Concatenate: {}")),
      graph("concatenate_height", merged("Concatenate: {axis: 1}")),
      graph("concatenate_width", merged("Concatenate: {axis: -2}")),
      graph("concatenate_unequal",
            conv("a") + ", {Conv2D: {filters: 5, kernel_size: 1, name: b}," +
                " inputs: [in]}, {Concatenate: {}, inputs: [b, in, a]}"),
      // Backward visits the branch without a rectifier first.
      graph("add_last", conv("a", relu) + ", {" + conv("b") +
                            ", inputs: [in]}, {Add: {}, inputs: [a, b]},"
                            " Dense: {units: 2}"),
      // The same with matrix products.
      graph("add_dense",
            "Flatten: {name: f}, Dense: {units: 4, activation: tanh, name: a},"
            " {Dense: {units: 4, name: b}, inputs: [f]},"
            " {Add: {}, inputs: [a, b]}, Dense: {units: 2}"),
      // A residual block; the rectifier is read twice.
      graph("residual",
            conv("a", relu) + ", " + conv("b", relu) + ", " + conv("c") +
                ", {Add: {}, inputs: [c, a]}, ReLU: {}, Dense: {units: 2}"),
      // Layers and models that are called again.
      graph("shared",
            conv("a", relu + ", kernel_regularizer: {L2: {l2: 0.1}}") +
                ", Call: {layer: a}, Call: {layer: a, name: last},"
                " {Add: {}, inputs: [a, last, a/1]},"
                " Dense: {units: 2}"),
      graph("shared_in_branches",
            conv("a") + ", {" + conv("b", relu) +
                ", inputs: [in]}, {Dense: {units: 4, name: d}, inputs: [a]},"
                " {Call: {layer: d, name: e}, inputs: [b]},"
                " {Multiply: {}, inputs: [d, e]}, Dense: {units: 2}"),
      graph("shared_model",
            "{Model: {name: m, layers: [Input: {shape: [5, 4, 3], name: x}, " +
                conv("a", relu) +
                ", {Dense: {units: 3, name: d}, inputs: [x]}, {Call: {layer: d,"
                " name: e}, inputs: [a]}, {Add: {}, inputs: [a, d, e]}]},"
                " inputs: [in]}, {Call: {layer: m, name: n}, inputs: [in]},"
                " {Call: {layer: m}, inputs: [m]}, {Add: {}, inputs: [m, n, "
                "m/1]},"
                " Dense: {units: 2}"),
      graph("shared_normalization",
            conv("a") + ", LayerNormalization: {name: norm}, Dense: {units: 3},"
                        " Call: {layer: norm}, Dense: {units: 2}"),
      // Each call has a mask of its own.
      graph("shared_dropout", conv("a") + ", Dropout: {rate: 0.5, name: d},"
                                          " {Call: {layer: d}, inputs: [a]},"
                                          " {Subtract: {}, inputs: [d, d/1]},"
                                          " Dense: {units: 2}"),
      graph("shared_frozen",
            conv("a", ", trainable: false") +
                ", BatchNormalization: {name: norm, trainable: false},"
                " Dense: {units: 3}, Call: {layer: norm}, Call: {layer: a},"
                " Dense: {units: 2}"),
      graph("add_twice", conv("a", relu) +
                             ", {Add: {name: s}, inputs: [a, a]}," +
                             " {Add: {}, inputs: [s, a, a]}"),
      graph("multiply_twice",
            conv("a") + ", {Multiply: {}, inputs: [a, a, in]}"),
      // Squeeze and excitation: each channel of an image times a number.
      graph("excitation",
            conv("a") + ", {GlobalAveragePooling2D: {}, inputs: [a]},"
                        " Dense: {units: 2, activation: relu},"
                        " Dense: {units: 3, activation: sigmoid},"
                        " Reshape: {target_shape: [1, 1, 3], name: e},"
                        " {Multiply: {}, inputs: [a, e]}, Dense: {units: 2}"),
      // Multiplies each pixel by a number; the smaller input comes first.
      graph("attention",
            conv("a") + ", {Conv2D: {filters: 1, kernel_size: 1, name: p},"
                        " inputs: [in]}, {Multiply: {}, inputs: [p, a, in]}"),
      graph("add_rows",
            conv("a") + ", {Conv2D: {filters: 3, kernel_size: [1, 4], name: r},"
                        " inputs: [in]}, {Add: {}, inputs: [a, r]},"
                        " Dense: {units: 2}"),
      // Broadcasts along axes that are not adjacent, inputs of fewer axes, and
      // inputs that are all smaller than the output.
      graph(
          "repeated_apart",
          "{Conv2D: {filters: 1, kernel_size: [5, 1], name: w}, inputs: [in]},"
          " {GlobalAveragePooling2D: {name: g}, inputs: [in]},"
          " {Conv2D: {filters: 1, kernel_size: [1, 4], name: h},"
          " inputs: [in]}, {Add: {name: s}, inputs: [w, g, h]},"
          " {Multiply: {name: m}, inputs: [w, s, h]},"
          " {Multiply: {}, inputs: [h, m, w]}, Dense: {units: 2}"),
      graph("merged_apart",
            "{Conv2D: {filters: 1, kernel_size: [5, 1], name: w},"
            " inputs: [in]}, {Conv2D: {filters: 3, kernel_size: [1, 4],"
            " name: h}, inputs: [in]}, {Average: {name: m}, inputs: [w, h]},"
            " {Maximum: {name: x}, inputs: [m, w, h]},"
            " {Minimum: {name: n}, inputs: [h, x]},"
            " {Subtract: {}, inputs: [n, w]}, Dense: {units: 2}"),
      graph("one_number",
            "{Flatten: {}, inputs: [in]}, Dense: {units: 1, name: d},"
            " {Multiply: {name: m}, inputs: [in, d]},"
            " {Add: {}, inputs: [d, m]}, Dense: {units: 2}"),
      // Several layers share a gradient that each of them could overwrite.
      graph("shared_gradient",
            conv("a") + ", {ReLU: {name: r}, inputs: [a]}, {" +
                conv("s", ", activation: tanh") +
                ", inputs: [a]}, {Dropout: {rate: 0.4, name: d}, inputs: [a]},"
                " {Activation: {activation: softmax, name: m}, inputs: [a]},"
                " {Reshape: {target_shape: [5, 4, 3], name: e}, inputs: [a]},"
                " {Add: {}, inputs: [r, s, d, m, e, a]}"),
      // Pooling's gradient may include the rectifier's only if nobody else
      // reads the rectifier's output.
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

}  // namespace paceline
