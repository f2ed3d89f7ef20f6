#include "common/config/value.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/config/json_value.h"
#include "glog/logging.h"

namespace paceline {
Value::Value() = default;
Value::Value(std::nullptr_t) {}
Value::Value(double value) : data_(value) {}
Value::Value(const char* value) : data_(std::string(value)) {}
Value::Value(std::string value) : data_(std::move(value)) {}
Value::Value(absl::string_view value) : data_(std::string(value)) {}
Value::Value(List value) : data_(std::move(value)) {}
Value::Value(Map value) : data_(std::move(value)) {}
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

bool Value::as_bool() const {
  CHECK(kind() == Kind::kBool);
  return std::get<bool>(data_);
}

int64_t Value::as_int() const {
  CHECK(kind() == Kind::kInt);
  return std::get<int64_t>(data_);
}

double Value::as_double() const {
  CHECK(is_number());
  if (const auto* whole = std::get_if<int64_t>(&data_)) {
    return static_cast<double>(*whole);
  }
  return std::get<double>(data_);
}

const std::string& Value::as_string() const {
  CHECK(is_string());
  return std::get<std::string>(data_);
}

const Value::List& Value::as_list() const {
  CHECK(is_list());
  return std::get<List>(data_);
}

Value::List& Value::as_list() {
  CHECK(is_list());
  return std::get<List>(data_);
}

const Value::Map& Value::as_map() const {
  CHECK(is_map());
  return std::get<Map>(data_);
}

Value::Map& Value::as_map() {
  CHECK(is_map());
  return std::get<Map>(data_);
}

const Value* Value::Find(absl::string_view key) const {
  for (const Entry& entry : as_map()) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

Value& Value::operator[](absl::string_view key) {
  for (Entry& entry : as_map()) {
    if (entry.key == key) return entry.value;
  }
  return as_map().emplace_back(Entry{std::string(key), Value(), 0}).value;
}

bool operator==(const Value& a, const Value& b) {
  if (a.kind() != b.kind() && a.is_number() && b.is_number()) {
    return a.as_double() == b.as_double();
  }
  return a.data_ == b.data_;
}

namespace {

// YAML's notation, since JSON has no such numbers.
std::string NonfiniteText(double number) {
  if (std::isnan(number)) return ".nan";
  return number > 0 ? ".inf" : "-.inf";
}

}  // namespace

std::string Excerpt(const Value& value) {
  constexpr size_t kMaxExcerpt = 60;
  // Cut long texts and lists before formatting them.
  if (value.is_string() && value.as_string().size() > kMaxExcerpt) {
    return Excerpt(
        absl::StrCat(value.as_string().substr(0, kMaxExcerpt - 3), "..."));
  }
  if (value.is_list() && value.as_list().size() > kMaxExcerpt) {
    return absl::StrCat("a list of ", value.as_list().size(), " values");
  }
  if (value.is_map()) {
    return value.as_map().empty() ? "an empty map" : "a map";
  }
  if (value.is_number() && !std::isfinite(value.as_double())) {
    return NonfiniteText(value.as_double());
  }
  std::string text = ToJson(value).dump(
      -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  if (value.is_list() && text.size() > kMaxExcerpt) {
    return absl::StrCat("a list of ", value.as_list().size(), " values");
  }
  return text;
}

}  // namespace paceline
