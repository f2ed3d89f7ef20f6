#include "worker/lifecycle/in_process_worker.h"

#include <glog/logging.h>

#include <thread>

namespace paceline {

absl::Status InProcessWorker::Start(int /*port*/) {
  WorkerOptions options = options_;
  // The leader is in this process and reports how the job ended.
  options.member.on_stop = [](const absl::Status&) {};
  std::thread([options] {
    const absl::Status status = RunWorker(options).status();
    if (!status.ok()) LOG(ERROR) << status.message();
  }).detach();
  return absl::OkStatus();
}

}  // namespace paceline
