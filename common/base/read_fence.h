// Files that the kernel lets a thread open.
#ifndef PACELINE_COMMON_BASE_READ_FENCE_H_
#define PACELINE_COMMON_BASE_READ_FENCE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace paceline {

// Folders that surround what is read on behalf of somebody else. A check of a
// path says where it led when it was asked; the fence holds when a file is
// opened, in whatever library: a link that was moved in between leads nowhere.
//
// Immutable; thread-safe.
class ReadFence {
 public:
  // Holds nothing back.
  ReadFence() = default;
  explicit ReadFence(std::vector<std::string> folders)
      : folders_(std::move(folders)) {}

  // The same fence around one folder more; none stays none.
  ReadFence With(std::string folder) const;

  // Runs `work`, which returns an absl::Status or absl::StatusOr, on a thread
  // of its own, and blocks until it has returned. The thread, and those that it
  // starts, can open only files that are beneath the folders at that moment,
  // and only for reading, and can make or remove none; all else is
  // PermissionDenied (EACCES). What was open before stays so. Folders that
  // cannot be opened are left out. An error of the
  // kernel is returned, and `work` does not run.
  //
  // Without a fence, or where the kernel has none (see Support), `work` runs on
  // this thread.
  template <typename Work>
  auto Run(Work work) const -> decltype(work()) {
    std::optional<decltype(work())> result;
    const absl::Status fenced = RunFenced([&] { result = work(); });
    if (!fenced.ok()) return fenced;
    return *std::move(result);
  }

  // OK if the kernel has fences (Landlock: Linux 5.13, unless it is turned off
  // or filtered out by a container); else Unimplemented says what it answers.
  static absl::Status Support();

 private:
  absl::Status RunFenced(absl::FunctionRef<void()> work) const;

  std::optional<std::vector<std::string>> folders_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_READ_FENCE_H_
