#include "common/config/codec.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/config/suggestion.h"

namespace paceline {

absl::Status WrongType(const Value& value, const Path& path,
                       absl::string_view type) {
  return ConfigError(path,
                     absl::StrCat("expected ", type, ", got ", Excerpt(value)));
}

absl::Status Codec<bool>::Read(const Value& value, const Path& path,
                               bool& out) {
  if (value.kind() != Value::Kind::kBool) {
    return WrongType(value, path, "true or false");
  }
  out = value.as_bool();
  return absl::OkStatus();
}

absl::Status Codec<int64_t>::Read(const Value& value, const Path& path,
                                  int64_t& out) {
  if (value.kind() == Value::Kind::kInt) {
    out = value.as_int();
    return absl::OkStatus();
  }
  // Every whole double below this magnitude is an int64.
  constexpr double kEnd = 9223372036854775808.0;
  if (value.kind() == Value::Kind::kDouble &&
      value.as_double() == std::trunc(value.as_double()) &&
      value.as_double() >= -kEnd && value.as_double() < kEnd) {
    out = static_cast<int64_t>(value.as_double());
    return absl::OkStatus();
  }
  return WrongType(value, path, "an integer");
}

absl::Status Codec<double>::Read(const Value& value, const Path& path,
                                 double& out) {
  if (!value.is_number() || !std::isfinite(value.as_double())) {
    return WrongType(value, path, "a finite number");
  }
  out = value.as_double();
  return absl::OkStatus();
}

absl::Status Codec<std::string>::Read(const Value& value, const Path& path,
                                      std::string& out) {
  if (!value.is_string()) return WrongType(value, path, "a string");
  out = value.as_string();
  return absl::OkStatus();
}

absl::Status Codec<std::array<int64_t, 1>>::Read(const Value& value,
                                                 const Path& path,
                                                 std::array<int64_t, 1>& out) {
  if (value.is_list() && value.as_list().size() == 1) {
    return Codec<int64_t>::Read(value.as_list()[0], path.Index(0), out[0]);
  }
  return Codec<int64_t>::Read(value, path, out[0]);
}

absl::Status Codec<std::array<int64_t, 2>>::Read(const Value& value,
                                                 const Path& path,
                                                 std::array<int64_t, 2>& out) {
  if (value.is_number()) {
    RETURN_IF_ERROR(Codec<int64_t>::Read(value, path, out[0]));
    out[1] = out[0];
    return absl::OkStatus();
  }
  if (!value.is_list() || value.as_list().size() != 2) {
    return WrongType(value, path, "an integer or a pair of integers");
  }
  for (size_t i = 0; i < 2; ++i) {
    RETURN_IF_ERROR(
        Codec<int64_t>::Read(value.as_list()[i], path.Index(i), out[i]));
  }
  return absl::OkStatus();
}

absl::Status ReadEnumName(const Value& value, const Path& path,
                          const std::vector<std::string>& names,
                          size_t& index) {
  if (!value.is_string()) {
    return WrongType(value, path,
                     absl::StrCat("one of ", absl::StrJoin(names, ", ")));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == value.as_string()) {
      index = i;
      return absl::OkStatus();
    }
  }
  return ConfigError(
      path,
      absl::StrCat("expected one of ", absl::StrJoin(names, ", "), ", got ",
                   Excerpt(value), DidYouMean(value.as_string(), names)));
}

}  // namespace paceline
