#include "coordinator/cli/service/yaml_text.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/config/yaml_reader.h"

namespace paceline {
namespace {

using ::nlohmann::ordered_json;

std::string Dump(const ordered_json& json, int indent) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false,
                   ordered_json::error_handler_t::replace);
}

// Whether the text means itself without quotes, also to readers of YAML 1.1,
// for which "yes" is true and "1:30" is 90.
bool IsPlain(const std::string& text) {
  if (text.empty() || !absl::ascii_isalpha(text[0])) return false;
  for (const char c : text) {
    if (!absl::ascii_isalnum(c) && !absl::StrContains("_-./", c)) return false;
  }
  for (const absl::string_view word : {"yes", "no", "on", "off", "y", "n"}) {
    if (absl::EqualsIgnoreCase(text, word)) return false;
  }
  return ResolvePlainScalar(text).is_string();
}

std::string Scalar(const ordered_json& json) {
  if (json.is_string() && IsPlain(json.get_ref<const std::string&>())) {
    return json.get<std::string>();
  }
  return Dump(json, -1);
}

// Appends what follows "key:" or "-". `indent`: of the lines that it begins.
void Append(const ordered_json& json, int indent, bool is_item,
            std::string& out) {
  if (!json.is_structured() || json.empty()) {
    absl::StrAppend(&out, " ", Scalar(json), "\n");
    return;
  }
  const std::string margin(indent, ' ');
  // The first line of a list's item stands beside its dash.
  bool is_beside = is_item;
  if (!is_item) absl::StrAppend(&out, "\n");
  const auto begin_line = [&] {
    absl::StrAppend(&out, is_beside ? " " : margin);
    is_beside = false;
  };
  if (json.is_array()) {
    for (const ordered_json& each : json) {
      begin_line();
      absl::StrAppend(&out, "-");
      Append(each, indent + 2, /*is_item=*/true, out);
    }
    return;
  }
  for (const auto& [key, value] : json.items()) {
    begin_line();
    absl::StrAppend(&out, Scalar(key), ":");
    Append(value, indent + 2, /*is_item=*/false, out);
  }
}

}  // namespace

std::string YamlText(const ordered_json& json) {
  std::string text;
  Append(json, 0, /*is_item=*/false, text);
  // Without the space or line break that follows a key.
  return text.substr(1);
}

std::string JsonText(const ordered_json& json) { return Dump(json, 2) + "\n"; }

}  // namespace paceline
