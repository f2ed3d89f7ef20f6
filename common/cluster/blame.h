// The task to blame for an error. The blame travels with the error: within a
// process as a payload of the status, between processes as a field of
// v1::Error. No code parses the message, which is for people.
#ifndef PACELINE_COMMON_CLUSTER_BLAME_H_
#define PACELINE_COMMON_CLUSTER_BLAME_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "common/cluster/task.h"
#include "paceline/v1/coordinator.pb.h"

namespace paceline {

struct Blame {
  TaskId task;
  // The task's address, "host:port"; "" if unknown.
  std::string address;
  // What the reporter waited for, such as "Push"; "" if it did not wait.
  std::string waited_for;

  bool operator==(const Blame&) const = default;
  // "ps-1 at 10.0.0.2:2222", for people.
  std::string Name() const { return TaskName(task, address); }
};

// Sets the blame of an error, and replaces an earlier one; OK stays OK.
absl::Status WithBlame(absl::Status error, const Blame& blame);
// Removes the blame of an error.
absl::Status WithoutBlame(absl::Status error);
// nullopt if the error has no blame.
std::optional<Blame> BlameOf(const absl::Status& error);

v1::Error ErrorToProto(const absl::Status& error);
// Reads an error from another process; OK if there is none. Its texts are made
// safe by PeerText. A blame of an invalid task is dropped; the caller must
// check whether the job has that task.
absl::Status ErrorFromProto(const v1::Error& error);

}  // namespace paceline

#endif  // PACELINE_COMMON_CLUSTER_BLAME_H_
