// Values whose config names one of several classes, such as a regularizer: "l2"
// or {L2: {l2: 0.1}}. Each class has a field table; a value knows its class by
// `class_name`, which is empty where the config is null.
#ifndef PACELINE_COMMON_MODEL_CLASS_TABLES_H_
#define PACELINE_COMMON_MODEL_CLASS_TABLES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "common/config/class_error.h"
#include "common/config/field_table.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "common/model/keras_names.h"
#include "glog/logging.h"

namespace paceline {

template <typename T>
using ClassTables = std::vector<FieldTable<T>>;

// Reads null, a name or a Keras object. `kind`: "regularizer", for errors.
template <typename T>
absl::Status ReadByClass(const ClassTables<T>& tables, absl::string_view kind,
                         const Value& value, const Path& path, T& out) {
  out = T();
  if (value.is_null()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const KerasObject object, ReadKerasObject(value, path));
  std::vector<std::string> known;
  for (const FieldTable<T>& table : tables) {
    if (object.class_name == table.name() ||
        object.class_name == ToSnakeCase(table.name())) {
      ASSIGN_OR_RETURN(out, table.Read(object.config, path));
      return absl::OkStatus();
    }
    known.push_back(table.name());
  }
  return UnknownClass(path, kind, object.class_name, known);
}

// In Keras' serialised form. `module`: "keras.regularizers".
template <typename T>
Value WriteByClass(const ClassTables<T>& tables, absl::string_view module,
                   const T& value) {
  if (value.class_name.empty()) return nullptr;
  for (const FieldTable<T>& table : tables) {
    if (table.name() != value.class_name) continue;
    return SerializeKerasObject(module, {table.name(), table.Write(value)});
  }
  LOG(FATAL) << "no class " << value.class_name;
}

template <typename T>
std::vector<ClassReference> ReferencesOfClasses(const ClassTables<T>& tables) {
  std::vector<ClassReference> references;
  for (const FieldTable<T>& table : tables) {
    references.push_back(table.Reference());
  }
  return references;
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_CLASS_TABLES_H_
