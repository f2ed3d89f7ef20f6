#include "common/task/data_options.h"

#include <filesystem>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/option_text.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

constexpr char kCacheSizeOption[] = "--data-cache-size";

// Makes bytes of a size. Returns what is wrong with it; CLI11 puts the option's
// name before that.
std::string ReplaceByBytes(std::string& size) {
  const absl::StatusOr<uint64_t> bytes = ParseSize(kCacheSizeOption, size);
  if (bytes.ok()) {
    size = absl::StrCat(*bytes);
    return "";
  }
  return std::string(absl::StripPrefix(bytes.status().message(),
                                       absl::StrCat(kCacheSizeOption, ": ")));
}

}  // namespace

void DataOptions::AddTo(CLI::App& app, const std::string& group) {
  app.add_option("--data-cache", cache,
                 "Folder for what is fetched of a job's data by http://, "
                 "https:// and s3://; processes may share it. Default: "
                 "paceline/data below $XDG_CACHE_HOME or ~/.cache; of a "
                 "daemon, data-cache in its folder.")
      ->group(group);
  app.add_option(kCacheSizeOption, cache_bytes,
                 "Size of that folder, beyond which what was not used for "
                 "longest is removed: 100GiB, 512MiB. Default: 20GiB.")
      ->transform(CLI::Validator(ReplaceByBytes, ""))
      ->type_name("SIZE")
      ->group(group);
}

void DataOptions::AddFromTo(CLI::App& app) {
  app.add_option("--data-from", from,
                 "What the URLs of a job's data must begin with, with a slash "
                 "at its end, or none; redirects must lead there, too. "
                 "Default: any URL.")
      ->allow_extra_args(false);
}

absl::StatusOr<std::vector<RemoteUrl>> DataOptions::Prefixes() const {
  std::vector<RemoteUrl> prefixes;
  for (const std::string& text : from) {
    if (text == kDataFromNowhere) continue;
    absl::StatusOr<RemoteUrl> prefix = ParseUrlPrefix(text);
    if (!prefix.ok()) return Annotate(prefix.status(), "--data-from");
    prefixes.push_back(*std::move(prefix));
  }
  return prefixes;
}

std::vector<std::string> DataOptions::Arguments() const {
  std::vector<std::string> arguments;
  if (!cache.empty()) {
    // Tasks may work in other folders.
    arguments.push_back(absl::StrCat(
        "--data-cache=", std::filesystem::absolute(cache).string()));
  }
  arguments.push_back(absl::StrCat(kCacheSizeOption, "=", cache_bytes));
  for (const std::string& prefix : from) {
    arguments.push_back(absl::StrCat("--data-from=", prefix));
  }
  return arguments;
}

}  // namespace paceline
