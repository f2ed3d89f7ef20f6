#include "common/optimizer/make_optimizer.h"

#include <limits>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/class_entry.h"
#include "common/config/class_error.h"
#include "common/config/field_table.h"
#include "common/config/keras_object.h"
#include "common/config/references_of.h"
#include "common/optimizer/optimizers.h"

namespace paceline {
namespace {

using OptimizerPtr = std::unique_ptr<Optimizer>;

template <typename... Each>
std::vector<ClassEntry<OptimizerPtr>> EntriesOf(
    OptimizerList<Each...> /*list*/) {
  return {ClassEntryOf<OptimizerPtr, Each>()...};
}

const std::vector<ClassEntry<OptimizerPtr>>& OptimizerEntries() {
  static const auto& entries =
      *new std::vector<ClassEntry<OptimizerPtr>>(EntriesOf(Optimizers()));
  return entries;
}

// The optimizers of Keras 3. Those without an entry get an error "not supported
// yet".
constexpr const char* kKerasClasses[] = {"Adadelta", "Adafactor",
                                         "Adagrad",  "Adam",
                                         "AdamW",    "Adamax",
                                         "Ftrl",     "Lamb",
                                         "Lion",     "Muon",
                                         "Nadam",    "RMSprop",
                                         "SGD",      "ScheduleFreeAdamW"};

// The optimizer in a LossScaleOptimizer.
struct InnerOptimizer {
  KerasObject object;
};

absl::Status ReadConfig(const Value& value, const Path& path,
                        InnerOptimizer& out) {
  ASSIGN_OR_RETURN(out.object, ReadKerasObject(value, path));
  return absl::OkStatus();
}

Value WriteConfig(const InnerOptimizer& inner) {
  return WriteKerasObject(inner.object);
}

std::string ConfigType(const InnerOptimizer* /*inner*/) { return "optimizer"; }

// Devices scale the loss in float32.
Check ScaleRange() {
  return Between(std::numeric_limits<float>::min(),
                 std::numeric_limits<float>::max());
}

// The config of a LossScaleOptimizer.
struct LossScaleConfig {
  static const FieldTable<LossScaleConfig>& Fields();

  InnerOptimizer inner;
  LossScaling scaling;
};

template <typename Member>
Accessors<LossScaleConfig, Member> OfScaling(Member LossScaling::*member) {
  return {[member](const LossScaleConfig& config) {
            return config.scaling.*member;
          },
          [member](LossScaleConfig& config, Member value) {
            config.scaling.*member = std::move(value);
          }};
}

const FieldTable<LossScaleConfig>& LossScaleConfig::Fields() {
  static const auto& table = *new FieldTable<LossScaleConfig>(
      LossScaling::kClassName,
      "Another optimizer, and how `precision: mixed_float16` scales the loss "
      "on a GPU. Without one the loss is scaled by these defaults; with other "
      "precisions this changes nothing.",
      {Optional("name", OfScaling(&LossScaling::name), "Name of it."),
       Required("inner_optimizer", &LossScaleConfig::inner, "The optimizer."),
       Optional("initial_scale", OfScaling(&LossScaling::initial_scale),
                ScaleRange(), "The first factor of the loss."),
       Optional("dynamic_growth_steps",
                OfScaling(&LossScaling::dynamic_growth_steps), AtLeast(1),
                "The factor doubles after so many steps with finite gradients. "
                "A step without is left out and halves it, down to 1."),
       NotWritten<LossScaleConfig>(Optional(
           "dynamic_scale", OfScaling(&LossScaling::dynamic_scale),
           ScaleRange(),
           "The factor with which the job begins; by default `initial_scale`. "
           "A model that goes on has that of its file.")),
       NotWritten<LossScaleConfig>(
           Optional("step_counter", OfScaling(&LossScaling::step_counter),
                    AtLeast(0), "Steps since that factor changed."))});
  return table;
}

absl::StatusOr<OptimizerPtr> MakeOptimizerAt(const KerasObject& object,
                                             const Path& path) {
  const std::string& name = object.class_name;
  std::vector<std::string> supported;
  for (const ClassEntry<OptimizerPtr>& entry : OptimizerEntries()) {
    // As in Keras, case does not matter here: "adam" is Adam.
    if (absl::EqualsIgnoreCase(entry.class_name, name)) {
      return entry.read(object.config, path);
    }
    supported.push_back(entry.class_name);
  }
  for (const char* const known : kKerasClasses) {
    if (!absl::EqualsIgnoreCase(known, name)) continue;
    return ClassError(path, name, absl::StrCat(known, " is not supported yet"),
                      absl::StatusCode::kUnimplemented);
  }
  return UnknownClass(path, "optimizer", name, supported);
}

}  // namespace

absl::StatusOr<OptimizerPtr> MakeOptimizer(const v1::KerasObject& object) {
  const Path path("optimizer");
  if (!absl::EqualsIgnoreCase(object.class_name(), LossScaling::kClassName)) {
    return MakeOptimizerAt(FromProto(object), path);
  }
  ASSIGN_OR_RETURN(LossScaleConfig config, LossScaleConfig::Fields().Read(
                                               FromProto(object).config, path));
  ASSIGN_OR_RETURN(
      OptimizerPtr optimizer,
      MakeOptimizerAt(config.inner.object, path.Key("inner_optimizer")));
  optimizer->loss_scaling = std::move(config.scaling);
  return optimizer;
}

Value Serialize(const Optimizer& optimizer) {
  Value own =
      SerializeByEntry("keras.optimizers", OptimizerEntries(), optimizer);
  if (!optimizer.loss_scaling) return own;
  LossScaleConfig config;
  config.scaling = *optimizer.loss_scaling;
  Value written = LossScaleConfig::Fields().Write(config);
  written["inner_optimizer"] = std::move(own);
  return SerializeKerasObject("keras.optimizers",
                              {LossScaling::kClassName, std::move(written)});
}

std::vector<ClassReference> OptimizerReferences() {
  std::vector<ClassReference> references = ReferencesOf(OptimizerEntries());
  references.push_back(LossScaleConfig::Fields().Reference());
  return references;
}

}  // namespace paceline
