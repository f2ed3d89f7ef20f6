#include "common/config/path.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace paceline {
namespace {

constexpr char kPathPayload[] = "paceline/config-path";
// Keys in errors are cut to this length, since users may write long ones.
constexpr size_t kMaxKeyShown = 64;

// Whether a step of a path ends before `rest`.
bool EndsStep(absl::string_view rest) {
  return rest.empty() || rest[0] == '.' || rest[0] == '[';
}

// Finds the entry of the first step of `path`, and removes that step.
const Value::Entry* TakeKey(const Value::Map& map, absl::string_view& path) {
  absl::string_view rest = absl::StripPrefix(path, ".");
  for (const Value::Entry& entry : map) {
    if (absl::StartsWith(rest, entry.key) &&
        EndsStep(rest.substr(entry.key.size()))) {
      path = rest.substr(entry.key.size());
      return &entry;
    }
  }
  return nullptr;
}

const Value* TakeIndex(const Value::List& list, absl::string_view& path) {
  const size_t end = path.find(']');
  size_t index = 0;
  if (!absl::StartsWith(path, "[") || end == absl::string_view::npos ||
      !absl::SimpleAtoi(path.substr(1, end - 1), &index) ||
      index >= list.size()) {
    return nullptr;
  }
  path.remove_prefix(end + 1);
  return &list[index];
}

// If `path` is just the class name of a Keras object with a `class_name`, its
// value.
const Value* ClassNamed(const Value& object, absl::string_view path) {
  const Value* name = object.Find("class_name");
  if (name == nullptr || !name->is_string()) return nullptr;
  return absl::StripPrefix(path, ".") == name->as_string() ? name : nullptr;
}

// The entry with the config of a Keras object.
const Value::Entry* ConfigEntry(const Value::Map& map) {
  for (const Value::Entry& entry : map) {
    if (entry.key == "config" || map.size() == 1) return &entry;
  }
  return nullptr;
}

}  // namespace

Path Path::Key(absl::string_view key) const {
  return Path(absl::StrCat(text_, text_.empty() ? "" : ".",
                           key.substr(0, kMaxKeyShown)));
}

Path Path::Index(size_t index) const {
  return Path(absl::StrCat(text_, "[", index, "]"));
}

absl::Status ConfigError(const Path& path, absl::string_view message,
                         absl::StatusCode code) {
  absl::Status status(code, path.text().empty()
                                ? std::string(message)
                                : absl::StrCat(path.text(), ": ", message));
  status.SetPayload(kPathPayload, absl::Cord(path.text()));
  return status;
}

int FindLine(const Value& document, const Path& path) {
  const Value* value = &document;
  absl::string_view rest = path.text();
  int line = document.line();
  bool is_config = false;
  while (!rest.empty()) {
    if (value->is_list()) {
      value = TakeIndex(value->as_list(), rest);
      if (value == nullptr) return line;
      line = value->line();
      continue;
    }
    // A class given by its name alone has no config below it.
    if (!value->is_map()) return value->line() > 0 ? value->line() : line;
    if (const Value* name = ClassNamed(*value, rest)) return name->line();
    const Value::Entry* entry = TakeKey(value->as_map(), rest);
    if (entry == nullptr) {
      // Paths leave out the config of a Keras object, so look for the key in
      // the config, too.
      if (std::exchange(is_config, true)) return line;
      entry = ConfigEntry(value->as_map());
      if (entry == nullptr) return line;
    } else {
      is_config = false;
    }
    line = entry->line;
    value = &entry->value;
  }
  return line;
}

absl::Status Locate(const absl::Status& error, absl::string_view source,
                    const Value& document) {
  if (error.ok()) return error;
  const absl::optional<absl::Cord> path = error.GetPayload(kPathPayload);
  const int line =
      path ? FindLine(document, Path(std::string(*path))) : document.line();
  return absl::Status(
      error.code(), line > 0
                        ? absl::StrCat(source, ":", line, ": ", error.message())
                        : absl::StrCat(source, ": ", error.message()));
}

}  // namespace paceline
