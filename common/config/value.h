// A configuration as a tree of values: the common data model of YAML, JSON and
// google.protobuf.Struct.
#ifndef PACELINE_COMMON_CONFIG_VALUE_H_
#define PACELINE_COMMON_CONFIG_VALUE_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"

namespace paceline {

// A regular value type. Accessors CHECK-fail if the value is of another kind.
class Value {
 public:
  enum class Kind { kNull, kBool, kInt, kDouble, kString, kList, kMap };
  struct Entry;
  using List = std::vector<Value>;
  // In the order of the source. Readers refuse repeated keys.
  using Map = std::vector<Entry>;

  Value();
  // Implicit, so that trees can be written as literals.
  // NOLINTBEGIN(google-explicit-constructor)
  Value(std::nullptr_t);
  template <std::same_as<bool> B>
  Value(B value);
  template <std::integral I>
  requires(!std::same_as<I, bool>) Value(I value);
  Value(double value);
  Value(const char* value);
  Value(std::string value);
  Value(absl::string_view value);
  Value(List value);
  Value(Map value);
  // NOLINTEND(google-explicit-constructor)
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is_null() const { return kind() == Kind::kNull; }
  bool is_string() const { return kind() == Kind::kString; }
  bool is_list() const { return kind() == Kind::kList; }
  bool is_map() const { return kind() == Kind::kMap; }
  // An int or a double.
  bool is_number() const {
    return kind() == Kind::kInt || kind() == Kind::kDouble;
  }

  bool as_bool() const;
  int64_t as_int() const;
  // Also converts an int.
  double as_double() const;
  const std::string& as_string() const;
  const List& as_list() const;
  List& as_list();
  const Map& as_map() const;
  Map& as_map();

  // The value of a key of a map; null if absent.
  const Value* Find(absl::string_view key) const;
  // The value of a key of a map; adds null if absent.
  Value& operator[](absl::string_view key);

  // Line of the source where the value starts, from 1; 0 if unknown.
  int line() const { return line_; }
  void set_line(int line) { line_ = line; }

  // Ignores lines; an int equals a double of the same value.
  friend bool operator==(const Value& a, const Value& b);

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, List, Map>
      data_;
  int line_ = 0;
};

struct Value::Entry {
  std::string key;
  Value value;
  // Line of the key, from 1; 0 if unknown.
  int line = 0;

  friend bool operator==(const Entry& a, const Entry& b) {
    return a.key == b.key && a.value == b.value;
  }
};

// Defined after Entry, whose definition std::vector<Entry> needs.
template <std::same_as<bool> B>
Value::Value(B value) : data_(value) {}

template <std::integral I>
requires(!std::same_as<I, bool>) Value::Value(I value)
    : data_(static_cast<int64_t>(value)) {}

// The value as JSON for messages, cut to about 60 characters.
std::string Excerpt(const Value& value);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_VALUE_H_
