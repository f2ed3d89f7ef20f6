// One class of a registry, such as a layer or a metric: its name, how it is
// read, and its reference.
#ifndef PACELINE_COMMON_CONFIG_CLASS_ENTRY_H_
#define PACELINE_COMMON_CONFIG_CLASS_ENTRY_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

// Pointer is a smart pointer to what the classes derive from.
template <typename Pointer>
struct ClassEntry {
  std::string class_name;
  // Reads an object of the class from its config, which lies at the path.
  std::function<absl::StatusOr<Pointer>(const Value&, const Path&)> read;
  std::function<ClassReference()> reference;
};

// T has a kClassName, and a function Fields that gives its field table.
template <typename Pointer, typename T>
ClassEntry<Pointer> ClassEntryOf() {
  return {T::kClassName,
          [](const Value& config, const Path& path) -> absl::StatusOr<Pointer> {
            ASSIGN_OR_RETURN(T object, T::Fields().Read(config, path));
            return std::make_unique<T>(std::move(object));
          },
          [] { return T::Fields().Reference(); }};
}

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_CLASS_ENTRY_H_
