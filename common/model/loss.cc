#include "common/model/loss.h"

#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "common/base/status_macros.h"
#include "common/config/class_entry.h"
#include "common/config/class_error.h"
#include "common/config/field_table.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/references_of.h"
#include "common/model/keras_names.h"
#include "common/model/losses/binary_crossentropy.h"
#include "common/model/losses/categorical_crossentropy.h"
#include "common/model/losses/huber.h"
#include "common/model/losses/mean_squared_error.h"
#include "common/model/losses/sparse_categorical_crossentropy.h"
#include "common/operations/binary_map.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"

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
      LossEntryOf<CategoricalCrossentropy>(""),
      LossEntryOf<Huber>(""),
      LossEntryOf<MeanSquaredError>("mse"),
      LossEntryOf<SparseCategoricalCrossentropy>(""),
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

absl::StatusOr<LossPtr> MakeLoss(const v1::KerasObject& object) {
  return MakeLoss(FromProto(object), Path("loss"));
}

op::Tensor MeanOfExamples(const op::Tensor& x) {
  if (x.count() == x.dimension(0)) return op::Reshape(x, {x.dimension(0)});
  std::vector<int> axes(x.rank() - 1);
  std::iota(axes.begin(), axes.end(), 1);
  return op::Reshape(op::Mean(x, std::move(axes)), {x.dimension(0)});
}

op::Tensor ClipProbabilities(const op::Tensor& p) {
  constexpr double kLeast = 1e-7;
  return op::Clip(p, kLeast, 1 - kLeast);
}

}  // namespace paceline
