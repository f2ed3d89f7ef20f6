#include "common/job/reference.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/callback/make_callbacks.h"
#include "common/config/field_table.h"
#include "common/config/suggestion.h"
#include "common/data_step/data_steps.h"
#include "common/job/job_fields.h"
#include "common/model/constraint.h"
#include "common/model/initializer.h"
#include "common/model/keras_names.h"
#include "common/model/loss.h"
#include "common/model/make_layer.h"
#include "common/model/metric.h"
#include "common/model/nested_model.h"
#include "common/model/regularizer.h"
#include "common/model/repeated_call.h"
#include "common/optimizer/make_optimizer.h"
#include "common/optimizer/make_schedule.h"

namespace paceline {
namespace {

struct Chapter {
  const char* title;
  const char* introduction;
  std::vector<ClassReference> parts;
};

// What may be among the layers of a model.
std::vector<ClassReference> ModelReferences() {
  std::vector<ClassReference> references = LayerReferences();
  references.push_back(NestedModel::Fields().Reference());
  references.push_back(RepeatedCall::Fields().Reference());
  return references;
}

std::vector<Chapter> Chapters() {
  return {
      {"The job",
       "The keys of a job file are those of `job`, at its top level; the other "
       "maps lie in it.",
       JobReferences()},
      {"Steps",
       "Entries of `steps` of a data set: `RandomFlip: {mode: horizontal}`, "
       "with the arguments and defaults of Keras' preprocessing layers. They "
       "are applied to each array of features, `to_categorical` to the "
       "labels. Images have their channels last, or only a height and a "
       "width.",
       DataStepReferences()},
      {"Layers",
       "Entries of `model.layers`: `Dense: {units: 10}`, or Keras' own "
       "`{class_name: Dense, config: {units: 10}}`. A layer reads the one "
       "before "
       "it, or those named beside its class: `{Add: {}, inputs: [left, "
       "right]}`. "
       "`Input` is short for InputLayer. `masked_by: [ids]`, also beside the "
       "class, has the job refused unless the mask of what the layer reads is "
       "that of those layers. `unmasked: true` marks an operator as in Keras "
       "(`x + y`, `2 * x`), which carries no mask on: Add, Multiply or "
       "Subtract of two, and Rescaling by a number; or a call with a keyword, "
       "for which Keras records no mask, of a layer that reads masks, such as "
       "LSTM, or of a Sequential. Any other layer with the mark is refused if "
       "what it reads has a mask.",
       ModelReferences()},
      {"Initializers",
       "Written as a name (`he_normal`) or like a layer (`HeNormal: {seed: "
       "1}`).",
       InitializerReferences()},
      {"Regularizers",
       "Written as a name (`l2`) or like a layer. Of an "
       "`activity_regularizer`, "
       "w is the output for an example, and the mean over the examples is "
       "added.",
       RegularizerReferences()},
      {"Constraints",
       "Written as a name (`non_neg`) or like a layer. A variable comes within "
       "its constraint at the end of each update.",
       ConstraintReferences()},
      {"Losses",
       "`loss`: a name (`sparse_categorical_crossentropy`, `mse`) or like a "
       "layer.",
       LossReferences()},
      {"Metrics",
       "Entries of `metrics`: a name or like a layer. `accuracy` is that which "
       "fits loss and output, as in Keras. A loss is a metric too.",
       MetricReferences()},
      {"Optimizers", "`optimizer`: a name (`adam`) or like a layer.",
       OptimizerReferences()},
      {"Schedules",
       "`learning_rate` of an optimizer: like a layer, in the place of a "
       "number. Computed in float64; Keras computes in float32.",
       ScheduleReferences()},
      {"Callbacks",
       "Entries of `callbacks`: a name (`TerminateOnNaN`) or like a layer. "
       "They get the logs of each epoch, in their order. What they write lies "
       "below the job's output folder.",
       CallbackReferences()},
  };
}

}  // namespace

std::string Reference() {
  std::string text =
      "# Reference of job files\n\n"
      "Every key that a job may have, with the classes of Keras that it may "
      "name, as `coordinator reference` prints it.\n";
  for (const Chapter& chapter : Chapters()) {
    absl::StrAppend(&text, "\n## ", chapter.title, "\n\n", chapter.introduction,
                    "\n");
    for (const ClassReference& part : chapter.parts) {
      absl::StrAppend(&text, "\n", part.markdown);
    }
  }
  return text;
}

absl::StatusOr<std::string> ReferenceOf(absl::string_view name) {
  // In Keras, the function Input creates an InputLayer.
  if (absl::EqualsIgnoreCase(name, "Input")) name = "InputLayer";
  std::vector<std::string> known;
  // Of several, if they have the same name: a step and a layer.
  std::string found;
  for (Chapter& chapter : Chapters()) {
    for (ClassReference& part : chapter.parts) {
      if (absl::EqualsIgnoreCase(name, part.name) ||
          name == ToSnakeCase(part.name)) {
        absl::StrAppend(&found, found.empty() ? "" : "\n", part.markdown);
      }
      known.push_back(std::move(part.name));
    }
  }
  if (!found.empty()) return found;
  const std::string meant = DidYouMean(name, known);
  return absl::NotFoundError(absl::StrCat(
      "no map of a job and no class is named \"", name, "\"",
      meant.empty() ? "; without a name the whole reference is printed"
                    : meant));
}

}  // namespace paceline
