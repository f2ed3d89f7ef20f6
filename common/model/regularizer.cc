#include "common/model/regularizer.h"

#include <optional>
#include <vector>

#include "common/base/status_macros.h"
#include "common/config/class_error.h"
#include "common/config/field_table.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/model/keras_names.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// As in Keras, whose L1 stores the factor as float32.
std::optional<Value> L1OfFloat32(const Regularizer& regularizer) {
  return Value(static_cast<float>(regularizer.l1));
}

const std::vector<FieldTable<Regularizer>>& Tables() {
  // Keras' default factor for a regularizer given as a name.
  constexpr double kDefault = 0.01;
  static const auto& tables = *new std::vector<FieldTable<Regularizer>>{
      FieldTable<Regularizer>(
          "L1", "Adds l1 · Σ|w| to the loss.",
          {WrittenAs(L1OfFloat32, Optional("l1", &Regularizer::l1, AtLeast(0),
                                           "Factor of Σ|w|."))},
          [] {
            return Regularizer{kDefault, 0, "L1"};
          }),
      FieldTable<Regularizer>(
          "L2", "Adds l2 · Σw² to the loss.",
          {Optional("l2", &Regularizer::l2, AtLeast(0), "Factor of Σw².")},
          [] {
            return Regularizer{0, kDefault, "L2"};
          }),
      FieldTable<Regularizer>(
          "L1L2", "Adds l1 · Σ|w| + l2 · Σw² to the loss.",
          {Optional("l1", &Regularizer::l1, AtLeast(0), "Factor of Σ|w|."),
           Optional("l2", &Regularizer::l2, AtLeast(0), "Factor of Σw².")},
          [] {
            return Regularizer{0, 0, "L1L2"};
          }),
  };
  return tables;
}

bool IsNameOf(absl::string_view name, absl::string_view class_name) {
  return name == class_name || name == ToSnakeCase(class_name);
}

}  // namespace

absl::Status ReadConfig(const Value& value, const Path& path,
                        Regularizer& out) {
  out = Regularizer();
  if (value.is_null()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const KerasObject object, ReadKerasObject(value, path));
  std::vector<std::string> known;
  for (const FieldTable<Regularizer>& table : Tables()) {
    if (IsNameOf(object.class_name, table.name())) {
      ASSIGN_OR_RETURN(out, table.Read(object.config, path));
      return absl::OkStatus();
    }
    known.push_back(table.name());
  }
  return UnknownClass(path, "regularizer", object.class_name, known);
}

Value WriteConfig(const Regularizer& regularizer) {
  if (regularizer.class_name.empty()) return nullptr;
  for (const FieldTable<Regularizer>& table : Tables()) {
    if (table.name() != regularizer.class_name) continue;
    return SerializeKerasObject("keras.regularizers",
                                {table.name(), table.Write(regularizer)});
  }
  LOG(FATAL) << "no regularizer " << regularizer.class_name;
}

std::string ConfigType(const Regularizer*) { return "regularizer or null"; }

std::vector<ClassReference> RegularizerReferences() {
  std::vector<ClassReference> references;
  for (const FieldTable<Regularizer>& table : Tables()) {
    references.push_back(table.Reference());
  }
  return references;
}

}  // namespace paceline
