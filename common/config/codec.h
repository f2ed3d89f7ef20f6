// Codecs: reading a C++ type from a configuration Value, and writing it.
#ifndef PACELINE_COMMON_CONFIG_CODEC_H_
#define PACELINE_COMMON_CONFIG_CODEC_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

// `Codec<M>::Read(value, path, out)` fails with an error at `path` that says
// what is expected; `Write(m)` returns a value that Read accepts; `Type()`
// names the type for people.
//
// A class defines its codec by two functions in its namespace:
//
//   absl::Status ReadConfig(const Value& value, const Path& path, M& out);
//   Value WriteConfig(const M& m);
//
// and, if "object" is too vague, `std::string ConfigType(const M*)`.
template <typename M>
struct Codec {
  static absl::Status Read(const Value& value, const Path& path, M& out) {
    return ReadConfig(value, path, out);
  }
  static Value Write(const M& m) { return WriteConfig(m); }
  static std::string Type() {
    if constexpr (requires { ConfigType(static_cast<const M*>(nullptr)); }) {
      return ConfigType(static_cast<const M*>(nullptr));
    } else {
      return "object";
    }
  }
};

// `<path>: expected <type>, got <value>`.
absl::Status WrongType(const Value& value, const Path& path,
                       absl::string_view type);

template <>
struct Codec<bool> {
  static absl::Status Read(const Value& value, const Path& path, bool& out);
  static Value Write(bool m) { return m; }
  static std::string Type() { return "bool"; }
};

// Also accepts a double that is whole, since google.protobuf.Struct has only
// doubles.
template <>
struct Codec<int64_t> {
  static absl::Status Read(const Value& value, const Path& path, int64_t& out);
  static Value Write(int64_t m) { return m; }
  static std::string Type() { return "integer"; }
};

// Refuses infinities and NaN.
template <>
struct Codec<double> {
  static absl::Status Read(const Value& value, const Path& path, double& out);
  static Value Write(double m) { return m; }
  static std::string Type() { return "number"; }
};

template <>
struct Codec<std::string> {
  static absl::Status Read(const Value& value, const Path& path,
                           std::string& out);
  static Value Write(const std::string& m) { return m; }
  static std::string Type() { return "string"; }
};

// The path of a file: a string that VisitFiles visits.
struct FilePath {
  std::string text;
};

// Called with the location of a file's path in the configuration, and the path
// itself, which it may change.
using FileVisitor =
    absl::FunctionRef<void(const Path& path, std::string& file)>;

// Whether an M may contain file paths. If so, `Codec<M>::VisitFiles(m, path,
// visit)` calls `visit` for each, in the order of fields.
template <typename M>
concept HoldsFiles = requires(M& m, const Path& path, FileVisitor visit) {
  Codec<M>::VisitFiles(m, path, visit);
};

template <>
struct Codec<FilePath> {
  static absl::Status Read(const Value& value, const Path& path,
                           FilePath& out) {
    return Codec<std::string>::Read(value, path, out.text);
  }
  static Value Write(const FilePath& m) { return m.text; }
  static std::string Type() { return "path"; }
  static void VisitFiles(FilePath& m, const Path& path, FileVisitor visit) {
    visit(path, m.text);
  }
};

// Keras' form of a size: an integer, or a list of one, as which it is written.
template <>
struct Codec<std::array<int64_t, 1>> {
  static absl::Status Read(const Value& value, const Path& path,
                           std::array<int64_t, 1>& out);
  static Value Write(const std::array<int64_t, 1>& m) {
    return Value::List{m[0]};
  }
  static std::string Type() { return "integer"; }
};

// Keras' form of sizes: an integer for both, or a pair.
template <>
struct Codec<std::array<int64_t, 2>> {
  static absl::Status Read(const Value& value, const Path& path,
                           std::array<int64_t, 2>& out);
  static Value Write(const std::array<int64_t, 2>& m) {
    return Value::List{m[0], m[1]};
  }
  static std::string Type() { return "integer or pair of integers"; }
};

// Null for nullopt.
template <typename M>
struct Codec<std::optional<M>> {
  static absl::Status Read(const Value& value, const Path& path,
                           std::optional<M>& out) {
    if (value.is_null()) {
      out.reset();
      return absl::OkStatus();
    }
    return Codec<M>::Read(value, path, out.emplace());
  }
  static Value Write(const std::optional<M>& m) {
    return m ? Codec<M>::Write(*m) : Value();
  }
  static std::string Type() { return Codec<M>::Type() + " or null"; }
  static void VisitFiles(std::optional<M>& m, const Path& path,
                         FileVisitor visit) requires HoldsFiles<M> {
    if (m) Codec<M>::VisitFiles(*m, path, visit);
  }
};

template <typename M>
struct Codec<std::vector<M>> {
  static absl::Status Read(const Value& value, const Path& path,
                           std::vector<M>& out) {
    if (!value.is_list()) return WrongType(value, path, Type());
    out.clear();
    for (size_t i = 0; i < value.as_list().size(); ++i) {
      RETURN_IF_ERROR(Codec<M>::Read(value.as_list()[i], path.Index(i),
                                     out.emplace_back()));
    }
    return absl::OkStatus();
  }
  static Value Write(const std::vector<M>& m) {
    Value::List list;
    for (const M& element : m) list.push_back(Codec<M>::Write(element));
    return list;
  }
  static std::string Type() {
    const std::string type = Codec<M>::Type();
    // Names of values, as of an enum, have no plural.
    return "list of " + type + (type.ends_with('`') ? "" : "s");
  }
  static void VisitFiles(std::vector<M>& m, const Path& path,
                         FileVisitor visit) requires HoldsFiles<M> {
    for (size_t i = 0; i < m.size(); ++i) {
      Codec<M>::VisitFiles(m[i], path.Index(i), visit);
    }
  }
};

// A value of an enumeration. The first name of a value is used for writing;
// others are aliases. An enumeration E must have, in its namespace,
//
//   absl::Span<const EnumName<E>> EnumNames(E);
template <typename E>
struct EnumName {
  E value;
  const char* name;
};

// The index of the name in `value`; the error lists all names.
absl::Status ReadEnumName(const Value& value, const Path& path,
                          const std::vector<std::string>& names, size_t& index);

template <typename E>
requires std::is_enum_v<E>
struct Codec<E> {
  static absl::Status Read(const Value& value, const Path& path, E& out) {
    size_t index = 0;
    RETURN_IF_ERROR(ReadEnumName(value, path, Names(), index));
    out = EnumNames(E{})[index].value;
    return absl::OkStatus();
  }
  static Value Write(E m) {
    for (const EnumName<E>& each : EnumNames(E{})) {
      if (each.value == m) return each.name;
    }
    return nullptr;
  }
  static std::string Type() {
    std::string type;
    for (const std::string& name : Names()) {
      type += (type.empty() ? "`" : "|`") + name + "`";
    }
    return type;
  }

 private:
  static std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const EnumName<E>& each : EnumNames(E{})) names.push_back(each.name);
    return names;
  }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_CODEC_H_
