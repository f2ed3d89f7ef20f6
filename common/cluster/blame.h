// Who is to blame for an error. The blame travels with the error: within a
// process as a payload of its status, and between processes as a field of
// v1::Error. Nobody looks for it in the text that people read.
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
  // Where it listens, "host:port"; "" while it is not known.
  std::string address;
  // What was waited for, such as "Push"; "" if nothing was.
  std::string waited_for;

  bool operator==(const Blame&) const = default;
  // "ps-1 at 10.0.0.2:2222", for people.
  std::string Name() const { return TaskName(task, address); }
};

// The error with this blame, whatever it had before; OK if it is OK.
absl::Status WithBlame(absl::Status error, const Blame& blame);
// The error with none.
absl::Status WithoutBlame(absl::Status error);
// Nothing if the error has none.
std::optional<Blame> BlameOf(const absl::Status& error);

v1::Error ErrorToProto(const absl::Status& error);
// An error that another process tells of; OK if it has none. Its texts go
// through PeerText. A blame of what can be no task is left out; whether the job
// has that task is for the caller to see.
absl::Status ErrorFromProto(const v1::Error& error);

}  // namespace paceline

#endif  // PACELINE_COMMON_CLUSTER_BLAME_H_
