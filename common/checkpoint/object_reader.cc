#include "common/checkpoint/object_reader.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"

namespace paceline {

using nlohmann::json;

namespace {

bool IsBetween(const json& value, int64_t least, int64_t most) {
  // nlohmann::json stores a number that does not fit int64 as unsigned.
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() > static_cast<uint64_t>(most)) {
    return false;
  }
  return value.is_number_integer() && value.get<int64_t>() >= least &&
         value.get<int64_t>() <= most;
}

}  // namespace

absl::Status ObjectReader::Error(absl::string_view key,
                                 absl::string_view expected) const {
  const json* value = Find(key);
  return absl::DataLossError(absl::StrCat(
      where_, key, ": ", value == nullptr ? "missing" : PeerText(value->dump()),
      "; expected ", expected));
}

absl::StatusOr<const json*> ObjectReader::Object(const char* key) const {
  const json* value = Find(key);
  if (value == nullptr || !value->is_object()) return Error(key, "an object");
  return value;
}

absl::StatusOr<const json*> ObjectReader::List(const char* key) const {
  const json* value = Find(key);
  if (value == nullptr || !value->is_array()) return Error(key, "a list");
  return value;
}

absl::StatusOr<std::string> ObjectReader::String(const char* key) const {
  const json* value = Find(key);
  if (value == nullptr || !value->is_string()) return Error(key, "a string");
  return value->get<std::string>();
}

absl::StatusOr<bool> ObjectReader::Bool(const char* key) const {
  const json* value = Find(key);
  if (value == nullptr || !value->is_boolean()) {
    return Error(key, "true or false");
  }
  return value->get<bool>();
}

absl::StatusOr<int64_t> ObjectReader::Count(const char* key, int64_t most,
                                            int64_t least) const {
  const json* value = Find(key);
  if (value == nullptr || !IsBetween(*value, least, most)) {
    return Error(key,
                 absl::StrCat("a whole number from ", least, " to ", most));
  }
  return value->get<int64_t>();
}

absl::StatusOr<double> ObjectReader::Duration(const char* key) const {
  const json* value = Find(key);
  if (value == nullptr || !value->is_number() ||
      !std::isfinite(value->get<double>()) || value->get<double>() < 0) {
    return Error(key, "a number of seconds");
  }
  return value->get<double>();
}

absl::StatusOr<double> ObjectReader::Number(const char* key) const {
  const json* value = Find(key);
  if (value == nullptr || !(value->is_number() || value->is_null())) {
    return Error(key, "a number or null");
  }
  return value->is_null() ? std::numeric_limits<double>::quiet_NaN()
                          : value->get<double>();
}

absl::StatusOr<std::vector<double>> ObjectReader::Numbers(
    const char* key) const {
  const json* list = Find(key);
  const auto error = Error(key, "a list of numbers and nulls");
  if (list == nullptr || !list->is_array()) return error;
  std::vector<double> numbers;
  for (const json& value : *list) {
    if (!value.is_number() && !value.is_null()) return error;
    numbers.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                      : value.get<double>());
  }
  return numbers;
}

std::string ObjectReader::Below(absl::string_view key) const {
  return absl::StrCat(where_, key, ".");
}

const json* ObjectReader::Find(absl::string_view key) const {
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(std::string(key));
  return found == object_.end() ? nullptr : &*found;
}

}  // namespace paceline
