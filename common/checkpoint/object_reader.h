// Reads JSON objects of a manifest key by key.
#ifndef PACELINE_COMMON_CHECKPOINT_OBJECT_READER_H_
#define PACELINE_COMMON_CHECKPOINT_OBJECT_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace paceline {

// Each error is DataLoss and names the key, the value and what is expected:
// "session.steps: -5; expected a whole number from 0 to …".
class ObjectReader {
 public:
  // `where` is a prefix of the keys in errors: "", or a path that ends in ".".
  // `object` may be any value, and must outlive the reader.
  ObjectReader(const nlohmann::json& object, std::string where)
      : object_(object), where_(std::move(where)) {}

  absl::Status Error(absl::string_view key, absl::string_view expected) const;

  bool Has(absl::string_view key) const { return Find(key) != nullptr; }
  absl::StatusOr<const nlohmann::json*> Object(const char* key) const;
  absl::StatusOr<const nlohmann::json*> List(const char* key) const;
  absl::StatusOr<std::string> String(const char* key) const;
  absl::StatusOr<bool> Bool(const char* key) const;
  // A whole number from `least` to `most`.
  absl::StatusOr<int64_t> Count(const char* key, int64_t most,
                                int64_t least = 0) const;
  // A finite number of at least 0.
  absl::StatusOr<double> Duration(const char* key) const;
  // Any number; null means NaN.
  absl::StatusOr<double> Number(const char* key) const;
  absl::StatusOr<std::vector<double>> Numbers(const char* key) const;

  // The `where` for an object below a key: "session.counted.".
  std::string Below(absl::string_view key) const;

 private:
  const nlohmann::json* Find(absl::string_view key) const;

  const nlohmann::json& object_;
  const std::string where_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CHECKPOINT_OBJECT_READER_H_
