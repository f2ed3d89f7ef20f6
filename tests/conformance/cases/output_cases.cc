// Models of several inputs and outputs.
#include <utility>

#include "tests/conformance/cases/lists.h"

namespace paceline {

std::vector<Case> OutputCases() {
  const auto model = [](const std::string& name, const std::string& layers,
                        std::vector<OutputConfig> outputs) {
    return Case{name, {.layers = Yaml(layers), .outputs = std::move(outputs)}};
  };
  const auto weighted = [](Case with_weights) {
    with_weights.config.has_sample_weights = true;
    return with_weights;
  };
  const std::string sparse = "SparseCategoricalCrossentropy";
  const std::string two_inputs =
      "[Input: {shape: [5], name: row}, Input: {shape: [4, 3], name: grid},"
      " Flatten: {name: flat}, {Concatenate: {name: both},"
      " inputs: [row, flat]}, ";
  return {
      // The loss of `class` reads the logits, while another layer reads the
      // output of the softmax.
      model("outputs",
            two_inputs + "Dense: {units: 6, activation: tanh, name: hidden},"
                         " Dense: {units: 4, activation: softmax, name: class},"
                         " {Concatenate: {}, inputs: [class, hidden]},"
                         " Dense: {units: 2, name: place}]",
            {{.layer = "class",
              .loss = sparse,
              .metrics = Yaml("[accuracy, sparse_categorical_crossentropy]")},
             {.layer = "place",
              .loss = "mse",
              .weight = 0.3,
              .metrics = Yaml("[mse]")}}),
      // The first output depends on the second.
      model("outputs_backwards",
            two_inputs +
                "Dense: {units: 6, kernel_regularizer: l2, name: first},"
                " Dense: {units: 3, name: second}]",
            {{.layer = "second", .loss = "Huber", .weight = 2},
             {.layer = "first", .loss = "mse", .weight = 0.5}}),
      // Three losses of one layer, each with its own labels.
      model("outputs_of_one_layer",
            two_inputs + "Dense: {units: 3, activation: softmax, name: out}]",
            {{.layer = "out", .loss = sparse, .weight = 0.25},
             {.layer = "out", .loss = "categorical_crossentropy"},
             {.layer = "out", .loss = "mse", .weight = 3}}),
      weighted(model("outputs_with_sample_weights",
                     two_inputs + "Dense: {units: 4, name: class},"
                                  " Dense: {units: 2, name: place}]",
                     {{.layer = "class",
                       .loss = sparse,
                       .weighted_metrics = Yaml("[accuracy]")},
                      {.layer = "place",
                       .loss = "mse",
                       .weight = 0.3,
                       .metrics = Yaml("[mae]"),
                       .weighted_metrics = Yaml("[mae]")}})),
      // Only in training, dropout is between the loss and the logits.
      model("output_behind_dropout",
            "[Input: {shape: [7]},"
            " Dense: {units: 4, activation: softmax, name: probabilities},"
            " Dropout: {rate: 0.25, name: dropped},"
            " {Dense: {units: 2, name: out}, inputs: [probabilities]}]",
            {{.layer = "dropped", .loss = "categorical_crossentropy"},
             {.layer = "out", .loss = "mse"}}),
      // An output into which a device would fuse the next layer, if only that
      // read it.
      model("output_before_rectifier",
            "[Input: {shape: [6, 5, 3]},"
            " Conv2D: {filters: 4, kernel_size: 3, use_bias: false},"
            " BatchNormalization: {name: normal}, ReLU: {},"
            " Conv2D: {filters: 2, kernel_size: 1, name: out}]",
            {{.layer = "out", .loss = "mse"},
             {.layer = "normal", .loss = "mse", .weight = 0.5}}),
      model("output_before_pooling",
            "[Input: {shape: [8, 8, 2]},"
            " Conv2D: {filters: 4, kernel_size: 3, activation: relu,"
            " name: image}, MaxPooling2D: {}, Flatten: {},"
            " Dense: {units: 3, name: out}]",
            {{.layer = "image", .loss = "mse", .weight = 0.5},
             {.layer = "out",
              .loss = Yaml("{SparseCategoricalCrossentropy:"
                           " {from_logits: true}}"),
              .metrics = Yaml("[accuracy]")}}),
      // Two inputs of ids with different ranges.
      model(
          "inputs_of_ids",
          "[Input: {shape: [4], name: words}, Input: {shape: [2], name: tags},"
          " {Embedding: {input_dim: 9, output_dim: 3, name: a},"
          " inputs: [words]}, {Embedding: {input_dim: 5, output_dim: 3,"
          " name: b}, inputs: [tags]}, {Concatenate: {axis: 1},"
          " inputs: [a, b]}, Flatten: {}, Dense: {units: 2, name: out}]",
          {{.layer = "out", .loss = "mse"}}),
      // Each output has its own branch; one branch is frozen.
      model("outputs_apart",
            "[Input: {shape: [5], name: a}, Input: {shape: [3], name: b},"
            " {Dense: {units: 2, trainable: false, name: of_a}, inputs: [a]},"
            " {Dense: {units: 4, name: of_b}, inputs: [b]}]",
            {{.layer = "of_a", .loss = "mse"}, {.layer = "of_b"}}),
      // Losses depend on two of the branches: on the kernel of one, a
      // regularizer does. One without a loss has metrics, one no labels.
      weighted(model(
          "outputs_without_loss",
          "[Input: {shape: [5], name: in},"
          " Dense: {units: 6, activation: tanh, name: trunk},"
          " {Dense: {units: 4, kernel_regularizer: l2, name: before},"
          " inputs: [trunk]}, Dense: {units: 4, name: apart},"
          " {Dense: {units: 2, activation: softmax, name: only}, inputs:"
          " [trunk]}, {Dense: {units: 3, name: out}, inputs: [trunk]},"
          " {Dense: {units: 3, activation: tanh, activity_regularizer: l2,"
          " name: active}, inputs: [trunk]}]",
          {{.layer = "only", .loss = {}},
           {.layer = "apart",
            .loss = {},
            .metrics = Yaml("[mae, mse]"),
            .weighted_metrics = Yaml("[mae]")},
           {.layer = "out", .loss = "mse", .weight = 0.5},
           {.layer = "active", .loss = {}, .metrics = Yaml("[mse]")}})),
      // A layer that is called twice, once for an output with a loss.
      model("output_of_a_call_without_loss",
            "[Input: {shape: [3], name: a}, Input: {shape: [3], name: b},"
            " {Dense: {units: 2, name: of_a}, inputs: [a]},"
            " {Call: {layer: of_a, name: of_b}, inputs: [b]}]",
            {{.layer = "of_a", .loss = {}, .metrics = Yaml("[mae]")},
             {.layer = "of_b", .loss = "mse"}}),
      model("output_of_a_call_with_loss",
            "[Input: {shape: [3], name: a}, Input: {shape: [3], name: b},"
            " {Dense: {units: 2, name: of_a}, inputs: [a]},"
            " {Call: {layer: of_a, name: of_b}, inputs: [b]}]",
            {{.layer = "of_a", .loss = "mse"}, {.layer = "of_b", .loss = {}}}),
  };
}

}  // namespace paceline
