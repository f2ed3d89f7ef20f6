#include "common/config/json_reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/status_macros.h"
#include "common/config/tree_builder.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

// Handles nlohmann-json's events; each handler returns whether to continue.
class Handler : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Handler(int64_t max_bytes) : builder_(max_bytes) {}

  const absl::Status& status() const { return status_; }
  Value Take() { return builder_.Take(); }

  bool null() override { return Leaf(nullptr); }
  bool boolean(bool value) override { return Leaf(value); }
  bool number_integer(number_integer_t value) override { return Leaf(value); }
  bool number_unsigned(number_unsigned_t value) override {
    // A number beyond int64 becomes a double.
    if (value > INT64_MAX) return Leaf(static_cast<double>(value));
    return Leaf(static_cast<int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t&) override {
    return Leaf(value);
  }
  bool string(string_t& value) override { return Leaf(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return Check(builder_.BeginMap(0)); }
  bool key(string_t& key) override {
    return Check(builder_.Key(std::move(key), 0));
  }
  bool end_object() override {
    builder_.End();
    return true;
  }
  bool start_array(size_t) override { return Check(builder_.BeginList(0)); }
  bool end_array() override {
    builder_.End();
    return true;
  }

  bool parse_error(size_t, const std::string&,
                   const nlohmann::json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: …"
    absl::string_view message = error.what();
    if (const size_t start = message.find("] ");
        start != absl::string_view::npos) {
      message.remove_prefix(start + 2);
    }
    return Check(absl::InvalidArgumentError(message));
  }

 private:
  bool Leaf(Value value) { return Check(builder_.Leaf(std::move(value), 0)); }

  bool Check(const absl::Status& status) {
    status_ = status;
    return status.ok();
  }

  TreeBuilder builder_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<Value> ReadJson(absl::string_view text,
                               const std::string& source, int64_t max_bytes) {
  if (static_cast<int64_t>(text.size()) > max_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(source, ": more than ", max_bytes, " bytes"));
  }
  text = absl::StripPrefix(text, "\xEF\xBB\xBF");
  Handler handler(max_bytes);
  nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  RETURN_IF_ERROR(Annotate(handler.status(), source));
  return handler.Take();
}

}  // namespace paceline
