#include "common/process/leave_order.h"

#include <glog/logging.h>
#include <unistd.h>

#include <thread>

#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/exit_code.h"

namespace paceline {
namespace {

// Time between two looks for a signal.
constexpr absl::Duration kLookInterval = absl::Milliseconds(50);

}  // namespace

LeaveOrder& LeaveOnSignal(std::unique_ptr<Interrupt> interrupt) {
  auto& order = *new LeaveOrder([] { EndNow(kRestart); });
  std::thread([interrupt = std::move(interrupt), &order] {
    while (!interrupt->Taken()) absl::SleepFor(kLookInterval);
    LOG(WARNING) << "a signal asks this task to leave its job; it has "
                 << kLeaveTimeout << ", and a second signal ends it at once";
    const absl::Time deadline = MonotonicNow() + kLeaveTimeout;
    // On a thread of its own, since it may talk to a leader that hangs.
    std::thread([&order] { order.Give(); }).detach();
    bool is_second = false;
    while (!is_second && MonotonicNow() < deadline) {
      absl::SleepFor(kLookInterval);
      is_second = interrupt->Taken();
    }
    LOG(ERROR) << (is_second ? "a second signal ends this task"
                             : "this task did not leave in time, and ends")
               << " without a goodbye";
    EndNow(kRestart);
  }).detach();
  return order;
}

void EndNow(int exit_code) {
  google::FlushLogFiles(google::GLOG_INFO);
  _exit(exit_code);
}

}  // namespace paceline
