#include "tests/simulation/simulator.h"

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace paceline {

void Simulator::After(absl::Duration delay, ProcessPtr process,
                      std::function<void()> event) {
  events_.push(
      {now_ + delay, event_count_++, std::move(process), std::move(event)});
}

absl::Status Simulator::Run(const std::function<bool()>& done,
                            absl::Duration limit) {
  const absl::Time start = now_;
  const absl::Time end = start + limit;
  while (!done()) {
    if (events_.empty() || events_.top().time > end) {
      return absl::DeadlineExceededError(
          absl::StrCat("not done within ", absl::FormatDuration(limit)));
    }
    Event event = events_.top();
    events_.pop();
    now_ = event.time;
    if (event.process->is_dead) continue;
    if (event.process->paused_until > now_) {
      event.time = event.process->paused_until;
      events_.push(std::move(event));
      continue;
    }
    event.run();
    const absl::Status status = event.process->CheckInvariants();
    if (!status.ok()) {
      return Annotate(status,
                      absl::StrCat("after event ", event.number, ", at ",
                                   absl::FormatDuration(now_ - start)));
    }
  }
  return absl::OkStatus();
}

void Simulator::Deliver(const ProcessPtr& to,
                        const std::function<void()>& receive) {
  if (Chance(network_.loss)) return;
  After(Delay(), to, receive);
  if (Chance(network_.repetition)) After(Delay(), to, receive);
}

absl::Duration Simulator::Delay() {
  return Between(network_.min_delay, Chance(network_.long_delays)
                                         ? network_.max_long_delay
                                         : network_.max_delay);
}

}  // namespace paceline
