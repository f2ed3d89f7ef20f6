// A field with a single value, or with a value for each of several names.
#ifndef PACELINE_COMMON_CONFIG_BY_NAME_H_
#define PACELINE_COMMON_CONFIG_BY_NAME_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/codec.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

// Two forms:
//
//   features: x
//   features: {left: x1, right: x2}
//
// The names are those of a model's inputs or outputs; a single value needs
// none. Where a single T may be a map too, Codec<T> has
//
//   static bool IsOne(const Value& map);
//
// which tells it from a map of names.
template <typename T>
struct ByName {
  // At least one. Sorted by name, since messages keep no other order. The name
  // of a single value without a name is "".
  std::map<std::string, T> entries;
};

template <typename T>
struct Codec<ByName<T>> {
  static absl::Status Read(const Value& value, const Path& path,
                           ByName<T>& out) {
    out.entries.clear();
    bool is_one = !value.is_map();
    if constexpr (requires { Codec<T>::IsOne(value); }) {
      is_one = is_one || Codec<T>::IsOne(value);
    }
    if (is_one) return Codec<T>::Read(value, path, out.entries[""]);
    if (value.as_map().empty()) {
      return WrongType(value, path, absl::StrCat(Type(), " with an entry"));
    }
    for (const Value::Entry& entry : value.as_map()) {
      if (entry.key.empty()) {
        return WrongType(entry.key, path,
                         "the name of an input or output of the model as key");
      }
      RETURN_IF_ERROR(Codec<T>::Read(entry.value, path.Key(entry.key),
                                     out.entries[entry.key]));
    }
    return absl::OkStatus();
  }

  static Value Write(const ByName<T>& m) {
    Value::Map map;
    for (const auto& [name, t] : m.entries) {
      if (name.empty()) return Codec<T>::Write(t);
      map.push_back({name, Codec<T>::Write(t)});
    }
    return map;
  }

  static std::string Type() {
    return absl::StrCat(Codec<T>::Type(), " or map of these");
  }

  static void VisitFiles(ByName<T>& m, const Path& path,
                         FileVisitor visit) requires HoldsFiles<T> {
    for (auto& [name, t] : m.entries) {
      Codec<T>::VisitFiles(t, name.empty() ? path : path.Key(name), visit);
    }
  }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_BY_NAME_H_
