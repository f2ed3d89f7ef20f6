#include "common/callback/remote_monitor.h"

#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/remote_url.h"
#include "common/base/status_macros.h"
#include "common/callback/python_number.h"
#include "common/config/codec.h"
#include "common/config/field_table.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

// As json.dumps writes it.
std::string PythonText(const std::string& text) {
  return nlohmann::json(text).dump(/*indent=*/-1, ' ', /*ensure_ascii=*/true,
                                   nlohmann::json::error_handler_t::replace);
}

std::string PythonJsonNumber(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return PythonNumber(value);
}

std::string PythonJson(const EpochEnd& end) {
  std::string text = absl::StrCat("{\"epoch\": ", end.epoch);
  for (const auto& [key, value] : end.logs) {
    absl::StrAppend(&text, ", ", PythonText(key), ": ",
                    PythonJsonNumber(value));
  }
  return absl::StrCat(text, "}");
}

// As urllib.parse.quote_plus.
std::string QuotePlus(absl::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (absl::ascii_isalnum(c) || absl::StrContains("_.-~", c)) {
      quoted += c;
    } else if (c == ' ') {
      quoted += '+';
    } else {
      absl::StrAppendFormat(&quoted, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return quoted;
}

absl::Status CheckAddress(const RemoteMonitor& monitor, const Path& path) {
  const std::string text = monitor.root + monitor.path;
  const absl::StatusOr<RemoteUrl> url = ParseRemoteUrl(text);
  const bool is_http = absl::StartsWithIgnoreCase(text, "http://") ||
                       absl::StartsWithIgnoreCase(text, "https://");
  if (!is_http || (url.ok() && !url->sha256.empty())) {
    return ConfigError(
        path.Key("root"),
        absl::StrCat("\"", ShownUrl(text),
                     "\" (with `path`); expected a server's address, such as "
                     "http://host:9000 or https://host, without #sha256="));
  }
  // It begins with the URL.
  return url.ok() ? absl::OkStatus()
                  : ConfigError(path.Key("root"), url.status().message());
}

bool IsToken(absl::string_view name) {
  return !name.empty() && absl::c_all_of(name, [](char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("!#$%&'*+-.^_`|~", c);
  });
}

}  // namespace

absl::Status ReadConfig(const Value& value, const Path& path,
                        RequestHeaders& out) {
  out.entries.clear();
  if (value.is_null()) return absl::OkStatus();
  if (!value.is_map()) return WrongType(value, path, ConfigType(&out));
  for (const Value::Entry& entry : value.as_map()) {
    std::string text;
    const Path key = path.Key(entry.key);
    RETURN_IF_ERROR(Codec<std::string>::Read(entry.value, key, text));
    // Else it could be several headers.
    if (!IsToken(entry.key) || absl::c_any_of(text, absl::ascii_iscntrl)) {
      return ConfigError(key,
                         "expected a name of an HTTP header, and a value "
                         "without control characters");
    }
    out.entries.emplace_back(entry.key, std::move(text));
  }
  return absl::OkStatus();
}

Value WriteConfig(const RequestHeaders& headers) {
  if (headers.entries.empty()) return nullptr;
  Value::Map map;
  for (const auto& [name, text] : headers.entries) map.push_back({name, text});
  return map;
}

std::string ConfigType(const RequestHeaders*) {
  return "map of names to values, or null";
}

const FieldTable<RemoteMonitor>& RemoteMonitor::Fields() {
  static const auto& table = *new FieldTable<RemoteMonitor>(
      kClassName,
      "Posts the epoch (from 0) and its logs, as a JSON object, to `root` and "
      "`path` when an epoch ends. That a server cannot be reached within 10 s "
      "is a warning. Services, and a `worker` that leads by TF_CONFIG, refuse "
      "it without `--allow-exec`, since it reaches addresses that the job "
      "could not.",
      {Optional("root", &RemoteMonitor::root, "The server's URL."),
       Optional("path", &RemoteMonitor::path, "What follows `root`."),
       Optional("field", &RemoteMonitor::field,
                "The field of the form that has the object."),
       Optional("headers", &RemoteMonitor::headers,
                "More headers of the request."),
       Optional("send_as_json", &RemoteMonitor::send_as_json,
                "Whether the request is the object itself, not a form.")},
      [] { return RemoteMonitor(); }, CheckAddress);
  return table;
}

absl::Status RemoteMonitor::Prepare(const CallbackContext& context,
                                    const Path& where) {
  if (context.allows_exec) return absl::OkStatus();
  return ConfigError(
      where, absl::StrCat("RemoteMonitor sends to any address, which is not "
                          "allowed where this job is led; expected ",
                          kAllowExec));
}

void RemoteMonitor::EpochEnded(EpochEnd& end, Decision& decision) {
  PostLogs post;
  post.url = root + path;
  post.warning =
      absl::StrCat("Could not reach RemoteMonitor root server at ", root);
  const bool has_type = absl::c_any_of(headers.entries, [](const auto& entry) {
    return absl::EqualsIgnoreCase(entry.first, "content-type");
  });
  if (!has_type) {
    post.headers.push_back(absl::StrCat(
        "Content-Type: ", send_as_json ? "application/json"
                                       : "application/x-www-form-urlencoded"));
  }
  for (const auto& [name, value] : headers.entries) {
    // libcurl leaves a header without a value out, but for this form.
    post.headers.push_back(value.empty() ? absl::StrCat(name, ";")
                                         : absl::StrCat(name, ": ", value));
  }
  const std::string object = PythonJson(end);
  post.body = send_as_json
                  ? object
                  : absl::StrCat(QuotePlus(field), "=", QuotePlus(object));
  decision.outputs.emplace_back(std::move(post));
}

}  // namespace paceline
