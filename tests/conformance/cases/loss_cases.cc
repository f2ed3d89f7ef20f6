#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/conformance/cases/lists.h"

namespace paceline {

std::vector<Case> LossCases() {
  const std::string logits = "[Input: {shape: [6]}, Dense: {units: 5}]";
  const auto activated = [](const char* activation) {
    return absl::StrCat("[Input: {shape: [6]}, Dense: {units: 5, activation: ",
                        activation, "}]");
  };
  // With Flatten in between, the loss reads probabilities instead of logits.
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
  // The loss reads the input of the softmax, but not that of the layer before
  // it.
  add("softmax_layer_behind_relu",
      "[Input: {shape: [6]}, Dense: {units: 5, activation: relu},"
      " Softmax: {}]",
      "categorical_crossentropy");
  add("softmax_layer_behind_tanh",
      "[Input: {shape: [6]}, Dense: {units: 5}, Activation: {activation: tanh},"
      " Softmax: {}]",
      "categorical_crossentropy");
  add("softmax_layer_behind_flatten",
      "[Input: {shape: [2, 3]}, Dense: {units: 3, activation: tanh},"
      " Flatten: {}, Activation: {activation: softmax}]",
      "sparse_categorical_crossentropy");
  add("two_classes", "[Input: {shape: [6]}, Dense: {units: 2}]",
      "{SparseCategoricalCrossentropy: {from_logits: true}}");
  // A class for each step or pixel.
  for (const char* shape : {"[3, 6]", "[2, 3, 4]"}) {
    const std::string name = absl::StrCat("SparseCategoricalCrossentropy_",
                                          shape[4] == '6' ? "steps" : "pixels");
    const std::string layers =
        absl::StrCat("Input: {shape: ", shape, "}, Dense: {units: 5");
    add(name + "_logits", "[" + layers + "}]",
        "{SparseCategoricalCrossentropy: {from_logits: true}}");
    add(name + "_traced", "[" + layers + ", activation: softmax}]",
        "SparseCategoricalCrossentropy");
    // ReLU hides the logits of the softmax.
    add(name + "_hidden", "[" + layers + ", activation: softmax}, ReLU: {}]",
        "SparseCategoricalCrossentropy");
    add(name + "_ignored", "[" + layers + ", activation: softmax}, ReLU: {}]",
        "{SparseCategoricalCrossentropy: {ignore_class: 255}}");
    add(name + "_ignored_logits", "[" + layers + "}]",
        "{SparseCategoricalCrossentropy: {from_logits: true, ignore_class: "
        "-1}}");
  }
  add("SparseCategoricalCrossentropy_masked_steps",
      "[Input: {shape: [5, 6]}, Dense: {units: 1, activation: relu},"
      " Masking: {}, Dense: {units: 4}]",
      "{SparseCategoricalCrossentropy: {from_logits: true, ignore_class: 2}}");
  add("huber", "[Input: {shape: [2, 6]}, Dense: {units: 5}]",
      "{Huber: {delta: 0.4}}");
  return cases;
}

std::vector<Case> WeightedMeanCases() {
  const Value loss =
      Yaml("{MeanSquaredError: {reduction: mean_with_sample_weight}}");
  return {
      {"weighted_mean",
       {.layers = Yaml("[Input: {shape: [6]}, Dense: {units: 5}]"),
        .loss = loss,
        .has_sample_weights = true}},
      {"weighted_mean_of_classes",
       {.layers = Yaml("[Input: {shape: [6]}, Dense: {units: 5}]"),
        .loss = loss,
        .class_weight = {{"1", 2.5}, {"4", 0}}}},
      {"weighted_mean_of_steps",
       {.layers = Yaml("[Input: {shape: [3, 6]}, Masking: {mask_value: 0},"
                       " Dense: {units: 4}]"),
        .loss = loss,
        .has_sample_weights = true}},
  };
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
      {"metrics_precision",
       {.layers = Yaml("[Input: {shape: [6]}, Dense: {units: 5, activation: "
                       "sigmoid}]"),
        .loss = Yaml("binary_crossentropy"),
        .metrics = Yaml("[Precision, Precision: {thresholds: 0.3},"
                        " Precision: {class_id: 2}]")}},
      {"weighted_metrics_of_ids",
       {.layers = dense,
        .loss = Yaml("{SparseCategoricalCrossentropy: {from_logits: true}}"),
        .weighted_metrics =
            Yaml("[accuracy, sparse_categorical_crossentropy,"
                 " MeanIoU: {num_classes: 8, sparse_y_pred: false}]"),
        .class_weight = {{"1", 2.5}, {"4", 0.5}}}},
      {"metrics_sparse_steps",
       {.layers = Yaml("[Input: {shape: [4, 6]}, Dense: {units: 8}]"),
        .loss = Yaml("{SparseCategoricalCrossentropy: {from_logits: true,"
                     " ignore_class: -1}}"),
        .metrics = Yaml("[accuracy, SparseTopKCategoricalAccuracy: {k: 3},"
                        " SparseCategoricalCrossentropy: {ignore_class: -1},"
                        " MeanIoU: {num_classes: 8, sparse_y_pred: false}]"),
        .weighted_metrics =
            Yaml("[SparseCategoricalCrossentropy: {ignore_class: -1},"
                 " sparse_categorical_accuracy]"),
        .has_sample_weights = true}},
      {"weighted_metrics_of_rows",
       {.layers = Yaml("[Input: {shape: [6]}, Dense: {units: 5, activation: "
                       "sigmoid}]"),
        .loss = Yaml("binary_crossentropy"),
        .weighted_metrics =
            Yaml("[binary_accuracy, mse, Precision: {class_id: 2}, AUC,"
                 " AUC: {thresholds: [0.3, 0.6]}, F1Score: {average: macro},"
                 " R2Score, RootMeanSquaredError,"
                 " OneHotIoU: {num_classes: 5, target_class_ids: [1]}]"),
        .has_sample_weights = true}},
      {"weighted_metrics_of_steps",
       {.layers = Yaml("[Input: {shape: [3, 6]}, Masking: {mask_value: 0},"
                       " Dense: {units: 4, activation: sigmoid}]"),
        .loss = Yaml("mse"),
        .weighted_metrics =
            Yaml("[mae, Recall, AUC: {num_thresholds: 7}, BinaryIoU]"),
        .has_sample_weights = true}},
  };
}

}  // namespace paceline
