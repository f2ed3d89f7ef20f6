#include "common/job/overrides.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/status_macros.h"
#include "common/config/codec.h"
#include "common/config/yaml_reader.h"
#include "common/limits.h"

namespace paceline {
namespace {

// Line numbers in an override's value do not refer to the job's file.
void ForgetLines(Value& value) {
  value.set_line(0);
  if (value.is_list()) {
    for (Value& element : value.as_list()) ForgetLines(element);
  } else if (value.is_map()) {
    for (Value::Entry& entry : value.as_map()) {
      entry.line = 0;
      ForgetLines(entry.value);
    }
  }
}

void ForgetLine(absl::string_view key, Value::Map& map) {
  for (Value::Entry& entry : map) {
    if (entry.key == key) entry.line = 0;
  }
}

// Removes an index such as "[3]" from the start of `path`; false if there is
// none.
bool TakeIndex(absl::string_view& path, size_t& index) {
  const size_t end = path.find(']');
  if (end == absl::string_view::npos ||
      !absl::SimpleAtoi(path.substr(1, end - 1), &index)) {
    return false;
  }
  path.remove_prefix(end + 1);
  return path.empty() || path[0] == '.' || path[0] == '[';
}

// The value at a path. Missing keys are added, without a line.
absl::StatusOr<Value*> Reach(Value& document, absl::string_view path) {
  Value* value = &document;
  Path here;
  int depth = 0;
  for (absl::string_view rest = path; !rest.empty();) {
    if (rest[0] == '[') {
      size_t index = 0;
      if (!TakeIndex(rest, index)) {
        return ConfigError(here, absl::StrCat("expected an index such as [0], "
                                              "got ",
                                              Excerpt(rest)));
      }
      if (!value->is_list()) return WrongType(*value, here, "a list");
      if (index >= value->as_list().size()) {
        return ConfigError(here.Index(index),
                           absl::StrCat("the list has ",
                                        value->as_list().size(), " elements"));
      }
      value = &value->as_list()[index];
      here = here.Index(index);
      continue;
    }
    absl::ConsumePrefix(&rest, ".");
    const absl::string_view key = rest.substr(0, rest.find_first_of(".["));
    rest.remove_prefix(key.size());
    if (key.empty()) return ConfigError(here, "a key of the path is empty");
    if (value->is_null()) *value = Value::Map{};
    if (value->is_list()) {
      return ConfigError(here,
                         absl::StrCat("is a list, whose elements are named by "
                                      "their index: ",
                                      here.text(), "[0].", key));
    }
    if (!value->is_map()) return WrongType(*value, here, "a map");
    Value& map = *value;
    value = &map[key];
    if (rest.empty()) ForgetLine(key, map.as_map());
    here = here.Key(key);
    if (++depth > limits::kMaxNesting) {
      return ConfigError(
          here, absl::StrCat("deeper than ", limits::kMaxNesting, " levels"));
    }
  }
  return value;
}

}  // namespace

absl::Status ApplyOverride(const std::string& override_text, Value& document) {
  const absl::string_view text = override_text;
  const std::string source = absl::StrCat("override ", Excerpt(text));
  const size_t equals = text.find('=');
  if (equals == absl::string_view::npos || equals == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(source, ": expected path.to.field=value"));
  }
  ASSIGN_OR_RETURN(Value value, ReadYaml(text.substr(equals + 1), source,
                                         limits::kMaxJobBytes));
  ForgetLines(value);
  const absl::StatusOr<Value*> target = Reach(document, text.substr(0, equals));
  if (!target.ok()) return Annotate(target.status(), source);
  **target = std::move(value);
  return absl::OkStatus();
}

}  // namespace paceline
