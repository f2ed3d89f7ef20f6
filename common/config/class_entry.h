// One class of a registry, such as a layer or a metric: its name, how it is
// read and written, and its reference.
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

// Pointer is a smart pointer to what the classes derive from.
template <typename Pointer>
struct ClassEntry {
  using Base = std::remove_const_t<typename Pointer::element_type>;

  std::string class_name;
  // Reads an object of the class from its config, which lies at the path.
  std::function<absl::StatusOr<Pointer>(const Value&, const Path&)> read;
  // The config of an object of the class.
  std::function<Value(const Base&)> write;
  std::function<ClassReference()> reference;
};

// The class that `table`, which lives on, reads and writes.
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

// T has a function Fields that gives its field table.
template <typename Pointer, typename T>
ClassEntry<Pointer> ClassEntryOf() {
  return ClassEntryOf<Pointer, T>(T::Fields());
}

// An object as Keras serializes it, by the entry of its class_name(). `module`
// is Keras' module of all `entries`. CHECK-fails if none is of its class.
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
