#include "tests/simulation/simulator.h"

namespace paceline {

void Simulator::After(absl::Duration delay, ProcessPtr process,
                      std::function<void()> event) {
  events_.push(
      {now_ + delay, event_count_++, std::move(process), std::move(event)});
}

bool Simulator::Run(const std::function<bool()>& done, absl::Duration limit) {
  const absl::Time end = now_ + limit;
  while (!done()) {
    if (events_.empty() || events_.top().time > end) return false;
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
  }
  return true;
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
