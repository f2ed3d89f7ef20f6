#include "common/model/loss.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/class_entry.h"
#include "common/config/class_error.h"
#include "common/config/field_table.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/references_of.h"
#include "common/model/keras_names.h"
#include "common/model/losses/binary_crossentropy.h"
#include "common/model/losses/binary_focal_crossentropy.h"
#include "common/model/losses/categorical_crossentropy.h"
#include "common/model/losses/categorical_focal_crossentropy.h"
#include "common/model/losses/categorical_hinge.h"
#include "common/model/losses/cosine_similarity.h"
#include "common/model/losses/dice.h"
#include "common/model/losses/hinge.h"
#include "common/model/losses/huber.h"
#include "common/model/losses/kl_divergence.h"
#include "common/model/losses/log_cosh.h"
#include "common/model/losses/mean_absolute_error.h"
#include "common/model/losses/mean_absolute_percentage_error.h"
#include "common/model/losses/mean_squared_error.h"
#include "common/model/losses/mean_squared_logarithmic_error.h"
#include "common/model/losses/poisson.h"
#include "common/model/losses/sparse_categorical_crossentropy.h"
#include "common/model/losses/squared_hinge.h"
#include "common/model/losses/tversky.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"

namespace paceline {
namespace {

using LossPtr = std::unique_ptr<const Loss>;

struct LossEntry : ClassEntry<LossPtr> {
  // Keras' alias, in lower or upper case; may be empty.
  std::string alias;
};

template <typename L>
LossEntry LossEntryOf(const char* alias) {
  return {ClassEntryOf<LossPtr, L>(), alias};
}

const std::vector<LossEntry>& LossEntries() {
  static const auto& entries = *new std::vector<LossEntry>{
      LossEntryOf<BinaryCrossentropy>("bce"),
      LossEntryOf<BinaryFocalCrossentropy>(""),
      LossEntryOf<CategoricalCrossentropy>(""),
      LossEntryOf<CategoricalFocalCrossentropy>(""),
      LossEntryOf<CategoricalHinge>(""),
      LossEntryOf<CosineSimilarity>(""),
      LossEntryOf<Dice>(""),
      LossEntryOf<Hinge>(""),
      LossEntryOf<Huber>(""),
      LossEntryOf<KLDivergence>("kld"),
      LossEntryOf<LogCosh>(""),
      LossEntryOf<MeanAbsoluteError>("mae"),
      LossEntryOf<MeanAbsolutePercentageError>("mape"),
      LossEntryOf<MeanSquaredError>("mse"),
      LossEntryOf<MeanSquaredLogarithmicError>("msle"),
      LossEntryOf<Poisson>(""),
      LossEntryOf<SparseCategoricalCrossentropy>(""),
      LossEntryOf<SquaredHinge>(""),
      LossEntryOf<Tversky>(""),
  };
  return entries;
}

bool Names(const std::string& name, const LossEntry& entry) {
  return name == entry.class_name || name == ToSnakeCase(entry.class_name) ||
         (!entry.alias.empty() &&
          (name == entry.alias || name == absl::AsciiStrToUpper(entry.alias)));
}

}  // namespace

absl::StatusOr<LossPtr> FindLoss(const KerasObject& object, const Path& path) {
  const std::string lower = absl::AsciiStrToLower(object.class_name);
  if (lower == "ce" || lower == "crossentropy") {
    return ConfigError(path,
                       absl::StrCat(object.class_name,
                                    " is one of three losses, which Keras "
                                    "chooses by the labels; expected its name: "
                                    "binary_crossentropy, "
                                    "categorical_crossentropy or "
                                    "sparse_categorical_crossentropy"),
                       absl::StatusCode::kUnimplemented);
  }
  if (lower == "ctc") {
    return ConfigError(path,
                       "CTC is not supported: its labels are sequences of "
                       "class ids; expected a loss whose labels have the "
                       "output's shape or are one class id an example",
                       absl::StatusCode::kUnimplemented);
  }
  for (const LossEntry& entry : LossEntries()) {
    if (Names(object.class_name, entry)) return entry.read(object.config, path);
  }
  return nullptr;
}

std::vector<std::string> LossClassNames() {
  std::vector<std::string> names;
  for (const LossEntry& entry : LossEntries())
    names.push_back(entry.class_name);
  return names;
}

Value Serialize(const Loss& loss) {
  return SerializeByEntry("keras.losses", LossEntries(), loss);
}

std::vector<ClassReference> LossReferences() {
  return ReferencesOf(LossEntries());
}

absl::StatusOr<LossPtr> MakeLoss(const KerasObject& object, const Path& path) {
  ASSIGN_OR_RETURN(LossPtr loss, FindLoss(object, path));
  if (loss == nullptr) {
    return UnknownClass(path, "loss", object.class_name, LossClassNames());
  }
  return loss;
}

bool IsLossName(const std::string& name) {
  const std::vector<LossEntry>& entries = LossEntries();
  return std::any_of(
      entries.begin(), entries.end(),
      [&](const LossEntry& entry) { return Names(name, entry); });
}

absl::Status Loss::CheckOutput(const Shape& output) const {
  return CheckRank(output, 1);
}

op::Tensor ClipProbabilities(const op::Tensor& p) {
  return op::Clip(p, kEpsilon, 1 - kEpsilon);
}

}  // namespace paceline
