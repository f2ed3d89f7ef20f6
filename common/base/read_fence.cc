#include "common/base/read_fence.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <thread>

#include "absl/status/statusor.h"
#include "common/base/errno_error.h"
#include "common/base/file_descriptor.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

constexpr uint64_t kReading =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
// What the fence is about: everything that the first version of Landlock knows
// but to execute, since nothing that is fenced does.
constexpr uint64_t kFenced =
    kReading | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
    LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
    LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
    LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;

// The C library has no functions for these calls.
int CreateRuleset(const landlock_ruleset_attr* attributes, size_t size,
                  uint32_t flags) {
  return static_cast<int>(
      syscall(SYS_landlock_create_ruleset, attributes, size, flags));
}

absl::Status Allow(const FileDescriptor& ruleset, const std::string& path) {
  const FileDescriptor folder(
      open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) {
    const bool lacks_memory =
        errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    if (lacks_memory) return ErrnoError("cannot open folder", path);
    // Nothing in it can be read.
    return absl::OkStatus();
  }
  landlock_path_beneath_attr beneath = {};
  beneath.allowed_access = kReading;
  beneath.parent_fd = folder.get();
  if (syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH,
              &beneath, 0) != 0) {
    return ErrnoError("cannot restrict reading to folder", path);
  }
  return absl::OkStatus();
}

absl::StatusOr<FileDescriptor> RulesetFor(
    const std::vector<std::string>& folders) {
  landlock_ruleset_attr attributes = {};
  attributes.handled_access_fs = kFenced;
  FileDescriptor ruleset(CreateRuleset(&attributes, sizeof(attributes), 0));
  if (!ruleset.is_open()) {
    return absl::ErrnoToStatus(errno, "cannot restrict reading");
  }
  for (const std::string& folder : folders) {
    RETURN_IF_ERROR(Allow(ruleset, folder));
  }
  return ruleset;
}

// For the calling thread, for as long as it lives.
absl::Status Enter(const FileDescriptor& ruleset) {
  // The kernel asks for it: a program with other rights would be surprised.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0) {
    return absl::ErrnoToStatus(errno, "cannot restrict reading");
  }
  return absl::OkStatus();
}

}  // namespace

ReadFence ReadFence::With(std::string folder) const {
  ReadFence wider = *this;
  if (wider.folders_) wider.folders_->push_back(std::move(folder));
  return wider;
}

absl::Status ReadFence::Support() {
  if (CreateRuleset(nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) >= 1) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(
      absl::ErrnoToStatus(errno, "landlock_create_ruleset").message());
}

absl::Status ReadFence::RunFenced(absl::FunctionRef<void()> work) const {
  if (!folders_ || !Support().ok()) {
    work();
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const FileDescriptor ruleset, RulesetFor(*folders_));
  absl::Status entered;
  std::thread([&] {
    entered = Enter(ruleset);
    if (entered.ok()) work();
  }).join();
  return entered;
}

}  // namespace paceline
