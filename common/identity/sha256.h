// SHA-256 (FIPS 180-4) of bytes and files, by libcrypto.
#ifndef PACELINE_COMMON_IDENTITY_SHA256_H_
#define PACELINE_COMMON_IDENTITY_SHA256_H_

#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "paceline/v1/queue.pb.h"

struct evp_md_ctx_st;

namespace paceline {

// The hash of bytes that come in pieces. Not thread-safe.
class Sha256 {
 public:
  Sha256();

  void Update(absl::string_view bytes);
  // Of all bytes so far, in 64 lower-case hexadecimal digits. More bytes may
  // follow.
  std::string Hex() const;

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

// Of all `bytes`, as Sha256::Hex.
std::string Sha256Hex(absl::string_view bytes);

// Whether `text` is 64 lower-case hexadecimal digits.
bool IsSha256Hex(absl::string_view text);

// The regular file at `path`, which a job has as `path_in_job`: its hash and
// size. Reads it in pieces of 1 MiB, and calls `on_progress` after each; blocks
// on the disk. NotFound, PermissionDenied, FailedPrecondition unless it is a
// regular file, or DataLoss if it becomes shorter meanwhile; messages name
// `path`.
absl::StatusOr<v1::JobFile> HashFile(
    const std::string& path, const std::string& path_in_job,
    absl::FunctionRef<void()> on_progress = [] {});

// Whether there is a regular file, and no link, at `path` with the size and
// hash of `file`. Blocks on the disk.
bool HasContentOf(const v1::JobFile& file, const std::string& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_IDENTITY_SHA256_H_
