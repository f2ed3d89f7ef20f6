// Control groups of the kernel (version 2) for tasks.
#ifndef PACELINE_COMMON_DAEMON_CONTROL_GROUP_H_
#define PACELINE_COMMON_DAEMON_CONTROL_GROUP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/file_descriptor.h"
#include "paceline/v1/queue.pb.h"

namespace paceline {

// A group for one task. Not thread-safe. The destructor kills what is in the
// group, and removes it.
class ControlGroup {
 public:
  // Makes the group `folder`, whose processes may use `limits` together; 0 is
  // no limit. GPUs are not limited.
  static absl::StatusOr<std::unique_ptr<ControlGroup>> Create(
      const std::string& folder, const v1::Resources& limits);
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;
  ~ControlGroup();

  // Its file cgroup.procs, for ChildLimits.
  int procs() const { return procs_.get(); }
  // "ended by its memory limit of 512 MiB" once the kernel says that it has
  // killed a process of the group for want of memory since Create; ""
  // otherwise.
  std::string WhyKilled() const;

 private:
  ControlGroup(std::string folder, uint64_t memory_bytes)
      : folder_(std::move(folder)), memory_bytes_(memory_bytes) {}
  // What the kernel has counted in a group, which may be older than the task.
  struct Kills {
    // How often the group's own limit was reached.
    uint64_t at_limit = 0;
    // Processes that were killed for want of memory.
    uint64_t killed = 0;
  };

  absl::Status Limit(const v1::Resources& limits);
  Kills CountKills() const;

  const std::string folder_;
  const uint64_t memory_bytes_;
  Kills before_;
  FileDescriptor procs_;
};

// This process's own group, which becomes the parent of those of its tasks.
class ControlGroupParent {
 public:
  // Moves this process into the group "paceline-daemon" below its own, since a
  // group with limited groups may have no processes itself. FailedPrecondition
  // says what is not as it must be, and nothing has changed: the group has the
  // controllers cpu and memory, this process may write it, is the only one in
  // it, and no other daemon has groups there. Ends groups that a daemon which
  // was killed has left. `root`: as for MachineResources.
  static absl::StatusOr<std::unique_ptr<ControlGroupParent>> Create(
      const std::string& root);
  ControlGroupParent(const ControlGroupParent&) = delete;
  ControlGroupParent& operator=(const ControlGroupParent&) = delete;
  // Moves this process back, if no group is left.
  ~ControlGroupParent();

  absl::StatusOr<std::unique_ptr<ControlGroup>> Add(
      const v1::Resources& limits);
  const std::string& folder() const { return folder_; }

 private:
  explicit ControlGroupParent(std::string folder)
      : folder_(std::move(folder)) {}

  const std::string folder_;
  int groups_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_CONTROL_GROUP_H_
