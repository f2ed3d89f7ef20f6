// Files by http://, https:// and s3://, through a cache on this machine.
#ifndef PACELINE_COMMON_REMOTE_FILE_REMOTE_FILES_H_
#define PACELINE_COMMON_REMOTE_FILE_REMOTE_FILES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/remote_url.h"
#include "common/remote_file/cached_file.h"
#include "common/remote_file/s3.h"
#include "common/remote_file/transfer.h"

namespace paceline {

struct RemoteFilesOptions {
  // The folder of the cache, made when it is needed, with mode 0700; of one
  // user, whose processes may share it. "": nothing can be fetched.
  std::string folder;
  // Of all files in it together.
  int64_t limit_bytes = 0;
  // What may be fetched, and to where servers may redirect; nullopt: anything.
  // Where others say what is fetched, so that nobody has this machine call
  // addresses that only it can reach.
  std::optional<std::vector<RemoteUrl>> allowed;
  S3Access s3;
  Network network;
};

// Immutable; thread-safe.
class RemoteFiles {
 public:
  explicit RemoteFiles(RemoteFilesOptions options)
      : options_(std::move(options)) {}

  // A copy of the file at the URL, whose name is that of the file there.
  //
  // A copy in the cache is used if its content has the hash that the URL gives
  // (#sha256=…); otherwise if the server, asked by ETag or Last-Modified, says
  // that the file is still the same. A server that says neither has the file
  // fetched each time. A download that was cut off goes on where it was, also
  // after this process has ended, and at most 64 MiB before that after a loss
  // of power, if the server still has that version and gives ranges; otherwise
  // it begins anew. A complete file outlives a loss of power. What may pass is
  // tried again, until nothing has come for `network.patience`. If another
  // process is downloading the file, it is waited for as long as it gets
  // further.
  //
  // What is verified: of https that the server is the URL's host; the number of
  // bytes, if the server says it; that all parts are of one version, by what
  // the server says; the SHA-256 that the URL gives; and the one that S3 stores
  // with an object (x-amz-checksum-sha256), if it was not uploaded in parts.
  // Without either hash nothing vouches for the content but the connection.
  //
  // Redirects are followed 5 times at most, to http and https only, never from
  // https to http, and for s3 not at all.
  //
  // Calls `on_progress` now and then while bytes come, here or in the process
  // that is waited for, and while they are hashed. Errors begin with the URL,
  // without its query, and say what the server answered: InvalidArgument for a
  // bad URL, PermissionDenied (also 401, 403), NotFound (404, 410),
  // ResourceExhausted if the file is larger than the cache's limit or the rest
  // is in use, DataLoss for a wrong hash, Unavailable if it was given up,
  // FailedPrecondition for other answers; and those of the disk. Blocks.
  absl::StatusOr<CachedFile> Fetch(
      const std::string& url,
      const std::function<void()>& on_progress = [] {}) const;

 private:
  const RemoteFilesOptions options_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_REMOTE_FILE_REMOTE_FILES_H_
