#include "common/model/regularizer.h"

#include <optional>
#include <vector>

#include "common/config/field_table.h"
#include "common/config/path.h"
#include "common/model/class_tables.h"

namespace paceline {
namespace {

// As in Keras, whose L1 stores the factor as float32.
std::optional<Value> L1OfFloat32(const Regularizer& regularizer) {
  return Value(static_cast<float>(regularizer.l1));
}

const ClassTables<Regularizer>& Tables() {
  // Keras' default factor for a regularizer given as a name.
  constexpr double kDefault = 0.01;
  static const auto& tables = *new ClassTables<Regularizer>{
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

}  // namespace

absl::Status ReadConfig(const Value& value, const Path& path,
                        Regularizer& out) {
  return ReadByClass(Tables(), "regularizer", value, path, out);
}

Value WriteConfig(const Regularizer& regularizer) {
  return WriteByClass(Tables(), "keras.regularizers", regularizer);
}

std::string ConfigType(const Regularizer*) { return "regularizer or null"; }

std::vector<ClassReference> RegularizerReferences() {
  return ReferencesOfClasses(Tables());
}

}  // namespace paceline
