// An entry of a registry of classes, such as layers or metrics: the class's
// name, how to read and write its objects, and its reference documentation.
#ifndef PACELINE_COMMON_CONFIG_CLASS_ENTRY_H_
#define PACELINE_COMMON_CONFIG_CLASS_ENTRY_H_

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "glog/logging.h"

namespace paceline {

// Pointer is a smart pointer to the base of the registered classes.
template <typename Pointer>
struct ClassEntry {
  using Base = std::remove_const_t<typename Pointer::element_type>;

  std::string class_name;
  // Reads an object of the class from its config at the path.
  std::function<absl::StatusOr<Pointer>(const Value&, const Path&)> read;
  // Returns the config of an object of the class.
  std::function<Value(const Base&)> write;
  std::function<ClassReference()> reference;
};

// The entry of a class with field table `table`, which must not be destroyed.
template <typename Pointer, typename T>
ClassEntry<Pointer> ClassEntryOf(const FieldTable<T>& table) {
  using Base = typename ClassEntry<Pointer>::Base;
  return {table.name(),
          [&table](const Value& config,
                   const Path& path) -> absl::StatusOr<Pointer> {
            ASSIGN_OR_RETURN(T object, table.Read(config, path));
            return std::make_unique<T>(std::move(object));
          },
          [&table](const Base& object) {
            return table.Write(static_cast<const T&>(object));
          },
          [&table] { return table.Reference(); }};
}

// The entry of T, which must have a static function Fields that returns its
// field table.
template <typename Pointer, typename T>
ClassEntry<Pointer> ClassEntryOf() {
  return ClassEntryOf<Pointer, T>(T::Fields());
}

// An object in Keras' serialised form, using the entry of its class_name().
// `module` is Keras' module of all `entries`. CHECK-fails if there is no such
// entry.
template <typename Entries, typename Base>
Value SerializeByEntry(absl::string_view module, const Entries& entries,
                       const Base& object) {
  for (const auto& entry : entries) {
    if (entry.class_name != object.class_name()) continue;
    return SerializeKerasObject(module,
                                {entry.class_name, entry.write(object)});
  }
  LOG(FATAL) << module << " has no class " << object.class_name();
}

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_CLASS_ENTRY_H_
