#include "worker/setup/remote_data.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/remote_url.h"
#include "common/base/status_macros.h"
#include "common/data_source/sources.h"

namespace paceline {
absl::StatusOr<RemoteFilesOptions> RemoteFilesOf(
    const DataOptions& options, char* (*get)(const char* name)) {
  // The first of the variables that is set.
  const auto value = [get](std::initializer_list<const char*> names) {
    for (const char* const name : names) {
      const char* const found = get(name);
      if (found != nullptr && *found != '\0') return std::string(found);
    }
    return std::string();
  };
  RemoteFilesOptions files;
  files.folder = options.cache;
  if (files.folder.empty()) {
    std::string caches = value({"XDG_CACHE_HOME"});
    const std::string home = value({"HOME"});
    if (caches.empty() && !home.empty()) caches = home + "/.cache";
    if (!caches.empty()) files.folder = caches + "/paceline/data";
  }
  files.limit_bytes = static_cast<int64_t>(std::min<uint64_t>(
      options.cache_bytes, std::numeric_limits<int64_t>::max() / 2));
  if (!options.from.empty()) {
    ASSIGN_OR_RETURN(files.allowed, options.Prefixes());
  }
  files.s3 = {value({"AWS_ACCESS_KEY_ID"}), value({"AWS_SECRET_ACCESS_KEY"}),
              value({"AWS_SESSION_TOKEN"}),
              value({"AWS_REGION", "AWS_DEFAULT_REGION"}),
              value({"AWS_ENDPOINT_URL"})};
  files.network.authority_file = value({"SSL_CERT_FILE"});
  // HTTP_PROXY in capitals is what a web server makes of a header.
  files.network.http_proxy = value({"http_proxy"});
  files.network.https_proxy = value({"https_proxy", "HTTPS_PROXY"});
  files.network.no_proxy = value({"no_proxy", "NO_PROXY"});
  return files;
}

absl::StatusOr<FetchedFiles> FetchData(const RemoteFiles& files,
                                       Contents contents, const Path& field,
                                       const std::function<void()>& on_progress,
                                       v1::Dataset& dataset) {
  FetchedFiles fetched;
  absl::Status status;
  VisitSourceFiles(
      dataset, contents, field, [&](const Path& path, std::string& file) {
        if (!status.ok() || !IsRemote(file)) return;
        absl::StatusOr<CachedFile> copy = files.Fetch(file, on_progress);
        status = Annotate(copy.status(), path.text());
        if (!copy.ok()) return;
        file = copy->path();
        fetched.push_back(*std::move(copy));
      });
  RETURN_IF_ERROR(status);
  return fetched;
}

}  // namespace paceline
