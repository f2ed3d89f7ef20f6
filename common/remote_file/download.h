// The download of one file to its entry of the cache.
#ifndef PACELINE_COMMON_REMOTE_FILE_DOWNLOAD_H_
#define PACELINE_COMMON_REMOTE_FILE_DOWNLOAD_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/remote_url.h"
#include "common/remote_file/cache_entry.h"
#include "common/remote_file/cached_file.h"
#include "common/remote_file/remote_files.h"

namespace paceline {

// Whoever makes it has the entry's lock. Not thread-safe.
class Download {
 public:
  // `copy`: the entry's complete file, which may be used if the server says
  // that it is still the same; reset once it says that it is not.
  Download(const RemoteFilesOptions& options, const RemoteUrl& url,
           CacheEntry& entry, std::optional<CachedFile>& copy,
           const std::function<void()>& on_progress)
      : options_(options),
        url_(url),
        entry_(entry),
        copy_(copy),
        on_progress_(on_progress) {}

  // Tries until the entry's part has the whole file, or the server says that
  // `copy` is still the same. Errors: see RemoteFiles::Fetch, without the URL.
  absl::Status Run();

  // After Run.
  bool is_unchanged() const { return is_unchanged_; }

 private:
  absl::Status Try();
  absl::Status Request(const HttpRequest& request);
  // Says on which conditions the server sends what.
  void AddConditions(HttpRequest& request) const;
  absl::Status Answered(const HttpRequest& request,
                        const HttpResponse& response);
  absl::Status Take(absl::string_view bytes);
  absl::Status BeginAnew(const HttpResponse& response);
  absl::Status GoOn(const HttpResponse& response);
  // Makes room for the whole file, or a part of it.
  absl::Status Reserve(int64_t bytes);
  // Makes room for `bytes` of a file whose size is unknown, and for more of it
  // as far as there is any.
  absl::Status ReserveMore(int64_t bytes);
  // The URL after a redirect from one to another, if it may be followed.
  absl::StatusOr<std::string> Follow(const std::string& from,
                                     const std::string& to) const;
  // The error that the response is.
  absl::Status Refusal() const;

  const RemoteFilesOptions& options_;
  const RemoteUrl& url_;
  CacheEntry& entry_;
  std::optional<CachedFile>& copy_;
  const std::function<void()>& on_progress_;
  bool is_unchanged_ = false;
  // Of the response that is being read.
  HttpResponse response_;
  std::string refusal_text_;
  // The room that the part has.
  int64_t reserved_ = 0;
  int64_t bytes_come_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_REMOTE_FILE_DOWNLOAD_H_
