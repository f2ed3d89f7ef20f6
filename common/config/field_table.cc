#include "common/config/field_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "common/config/suggestion.h"

namespace paceline {

namespace {

bool IsDocumented(const FieldInfo& info) { return info.is_documented; }

// Escapes text for a cell of a Markdown table.
std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"|", "\\|"}});
}

// The default as text; for a Keras object, its class.
std::string DefaultText(const Value& value) {
  if (const Value* name = value.is_map() ? value.Find("class_name") : nullptr) {
    return name->as_string();
  }
  if (value.is_map() && value.as_map().size() == 1) {
    return value.as_map()[0].key;
  }
  if (value.kind() == Value::Kind::kDouble) {
    // If the value is a float32, print as many digits as a float32 needs, not a
    // double.
    const auto narrow = static_cast<float>(value.as_double());
    if (narrow != std::trunc(narrow) && narrow == value.as_double()) {
      return absl::StrCat(narrow);
    }
  }
  return Excerpt(value);
}

absl::Status CheckKnown(const std::string& key, const Path& path,
                        const std::vector<FieldInfo>& infos) {
  std::vector<std::string> known;
  for (const FieldInfo& info : infos) {
    if (info.key == key) return absl::OkStatus();
    if (info.is_documented) known.push_back(info.key);
  }
  return ConfigError(path.Key(key),
                     absl::StrCat("unknown key", Suggestion(key, known)));
}

}  // namespace

FixedField Only(std::string key, Value value, std::string help) {
  FieldInfo info{.key = std::move(key),
                 .type = absl::StrCat("only ", Excerpt(value)),
                 .expectation = "",
                 .help = std::move(help)};
  auto read = [value](const Value& given, const Path& path) {
    if (given == value) return absl::OkStatus();
    return ConfigError(path,
                       absl::StrCat(Excerpt(given), " is not supported yet; ",
                                    "only ", Excerpt(value), " is"),
                       absl::StatusCode::kUnimplemented);
  };
  return {std::move(info), std::move(read), std::move(value)};
}

FixedField NotWritten(FixedField field) {
  field.info.when_written = WhenWritten::kNever;
  return field;
}

FixedField Ignored(std::string key, Value written, std::string help) {
  return {{.key = std::move(key),
           .type = "any",
           .expectation = "",
           .help = std::move(help)},
          [](const Value&, const Path&) { return absl::OkStatus(); },
          std::move(written)};
}

FixedField NotYet(std::string key, std::string help) {
  return {{.key = std::move(key),
           .type = "not supported yet",
           .expectation = "",
           .help = std::move(help),
           .is_documented = false},
          [](const Value&, const Path& path) {
            return ConfigError(path, "not supported yet",
                               absl::StatusCode::kUnimplemented);
          },
          std::nullopt};
}

absl::Status FieldTableBase::CheckKeys(
    const Value& value, const Path& path,
    const std::vector<FieldInfo>& infos) const {
  if (!value.is_map() && !value.is_null()) {
    return WrongType(value, path, absl::StrCat("a map (", name_, ")"));
  }
  const Value empty(Value::Map{});
  const Value& map = value.is_null() ? empty : value;
  for (const Value::Entry& entry : map.as_map()) {
    RETURN_IF_ERROR(CheckKnown(entry.key, path, infos));
  }
  for (const FieldInfo& info : infos) {
    const Value* entry = map.Find(info.key);
    const bool is_missing = entry == nullptr || entry->is_null();
    if (is_missing && info.is_required) {
      return ConfigError(path.Key(info.key),
                         absl::StrCat("missing; expected ", info.type,
                                      info.expectation.empty() ? "" : ", ",
                                      info.expectation, " (", info.help, ")"));
    }
    if (is_missing) continue;
    for (const std::string& key : info.excludes) {
      const Value* other = map.Find(key);
      if (other != nullptr && !other->is_null()) {
        return ConfigError(
            path.Key(info.key),
            absl::StrCat("excludes ", key, "; expected one of them"));
      }
    }
  }
  return absl::OkStatus();
}

std::string FieldTableBase::Describe(
    const std::vector<FieldInfo>& infos) const {
  std::vector<std::string> required;
  for (const FieldInfo& info : infos) {
    if (!info.is_required) continue;
    // The first form, which is the simplest, if there are several.
    const std::string form = info.type.substr(0, info.type.find(" or "));
    required.push_back(
        absl::StrCat(info.key, ": ", absl::AsciiStrToUpper(form)));
  }
  return absl::StrCat(name_, ": {", absl::StrJoin(required, ", "), "}");
}

ClassReference FieldTableBase::Document(
    const std::vector<FieldInfo>& infos,
    const std::vector<std::optional<Value>>& defaults) const {
  std::string text = absl::StrCat("### ", name_, "\n\n", help_, "\n");
  if (std::any_of(infos.begin(), infos.end(), IsDocumented)) {
    absl::StrAppend(&text, "\n| key | type | default | meaning |\n",
                    "|---|---|---|---|\n");
  }
  for (size_t i = 0; i < infos.size(); ++i) {
    const FieldInfo& info = infos[i];
    if (!IsDocumented(info)) continue;
    const std::string type = absl::StrCat(
        info.type, info.expectation.empty() ? "" : ", ", info.expectation);
    std::string fallback = "required";
    if (!info.is_required) {
      fallback = !info.default_text.empty() ? info.default_text
                 : defaults[i]              ? DefaultText(*defaults[i])
                                            : "";
      if (!fallback.empty()) fallback = absl::StrCat("`", fallback, "`");
    }
    absl::StrAppend(&text, "| `", info.key, "` | ", Escaped(type), " | ",
                    Escaped(fallback), " | ", Escaped(info.help), " |\n");
  }
  return {name_, std::move(text)};
}

}  // namespace paceline
