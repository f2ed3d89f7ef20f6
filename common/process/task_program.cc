#include "common/process/task_program.h"

#include <glog/logging.h>
#include <unistd.h>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "common/limits.h"
#include "common/process/lifetime.h"
#include "common/rpc/incarnation.h"

namespace paceline {

void TaskProgram::AddOptions(CLI::App& app) {
  app.add_option("--coordinator", coordinator_,
                 "host:port of the leader; instead of TF_CONFIG.");
  app.add_option("--index", index_, "Index of this task; with --coordinator.")
      ->check(CLI::Range(0, limits::kMaxTasks - 1));
  app.add_option("--listen", listen_,
                 "host:port to listen on; port 0 takes a free one.")
      ->capture_default_str();
  start_timeout_seconds_ = absl::ToDoubleSeconds(limits::kStartTimeout);
  app.add_option("--start_timeout", start_timeout_seconds_,
                 "Seconds that the leader may take to appear.")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--lifetime_fd", lifetime_fd_,
                 "A pipe whose closing ends this process; set by a parent.")
      ->check(CLI::NonNegativeNumber);
}

absl::StatusOr<TaskPlace> TaskProgram::Resolve(
    const std::string& /*tf_config*/) {
  if (lifetime_fd_ >= 0) EndWithParent(lifetime_fd_);
  if (coordinator_.empty()) {
    return absl::InvalidArgumentError(
        "this task does not know its place; expected the environment variable "
        "TF_CONFIG, or --coordinator and --index");
  }
  TaskPlace place;
  place.task = {type_, index_};
  place.coordinator_address = coordinator_;
  place.listen_address = listen_;
  return place;
}

MemberOptions TaskProgram::MemberFor(const TaskPlace& place,
                                     const std::string& version) const {
  MemberOptions member;
  member.task = place.task;
  member.coordinator_address = place.coordinator_address;
  member.address = place.advertised_address;
  member.incarnation = DrawIncarnation();
  member.version = version;
  member.start_timeout = absl::Seconds(start_timeout_seconds_);
  // A thread may wait for somebody who never answers, so nothing is unwound.
  member.on_stop = [](const absl::Status& status) {
    const int code = ExitWith(status);
    google::FlushLogFiles(google::GLOG_INFO);
    _exit(code);
  };
  return member;
}

int ExitWith(const absl::Status& status) {
  if (status.ok()) return 0;
  LOG(ERROR) << status.message();
  return absl::IsInvalidArgument(status) ? 2 : 1;
}

}  // namespace paceline
