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
  // "ended by its memory limit of 512 MiB" once the kernel has killed a process
  // of the group for want of memory; "" otherwise.
  std::string WhyKilled() const;

 private:
  ControlGroup(std::string folder, uint64_t memory_bytes)
      : folder_(std::move(folder)), memory_bytes_(memory_bytes) {}
  absl::Status Limit(const v1::Resources& limits);

  const std::string folder_;
  const uint64_t memory_bytes_;
  FileDescriptor procs_;
};

// This process's own group, which becomes the parent of those of its tasks.
class ControlGroupParent {
 public:
  // Moves this process into the group "paceline-daemon" below its own, since a
  // group with limited groups may have no processes itself. FailedPrecondition
  // says what is not as it must be, and nothing has changed: the group has the
  // controllers cpu and memory, this process may write it, and is the only one
  // in it. `root`: as for MachineResources.
  static absl::StatusOr<std::unique_ptr<ControlGroupParent>> Create(
      const std::string& root);
  ControlGroupParent(const ControlGroupParent&) = delete;
  ControlGroupParent& operator=(const ControlGroupParent&) = delete;
  // Moves this process back, if no group is left.
  ~ControlGroupParent();

  absl::StatusOr<std::unique_ptr<ControlGroup>> Add(
      const v1::Resources& limits) {
    return ControlGroup::Create(
        folder_ + "/paceline-task-" + std::to_string(++groups_), limits);
  }
  const std::string& folder() const { return folder_; }

 private:
  explicit ControlGroupParent(std::string folder)
      : folder_(std::move(folder)) {}

  const std::string folder_;
  int groups_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_CONTROL_GROUP_H_
