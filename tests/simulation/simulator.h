// A discrete-event simulation: a clock that jumps from event to event, and a
// network that loses, delays, repeats and reorders messages. Deterministic for
// a given seed.
#ifndef PACELINE_TESTS_SIMULATION_SIMULATOR_H_
#define PACELINE_TESTS_SIMULATION_SIMULATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace paceline {

struct NetworkOptions {
  double loss = 0.02;
  double repetition = 0.02;
  absl::Duration min_delay = absl::Milliseconds(1);
  absl::Duration max_delay = absl::Milliseconds(20);
  // Fraction of messages that take up to max_long_delay.
  double long_delays = 0.01;
  absl::Duration max_long_delay = absl::Seconds(5);
  // Time after which a caller repeats a call.
  absl::Duration retry_after = absl::Seconds(1);
};

// A process. While it is paused, its messages and timers wait.
struct Process {
  virtual ~Process() = default;

  // Checked after each of its events. Internal says which invariant is broken.
  virtual absl::Status CheckInvariants() const { return absl::OkStatus(); }

  bool is_dead = false;
  absl::Time paused_until = absl::InfinitePast();
};
using ProcessPtr = std::shared_ptr<Process>;

class Simulator {
 public:
  Simulator(uint64_t seed, const NetworkOptions& network)
      : random_(seed), network_(network) {}

  absl::Time now() const { return now_; }

  // In [0, 1).
  double Uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  bool Chance(double probability) { return Uniform() < probability; }
  absl::Duration Between(absl::Duration low, absl::Duration high) {
    return low + Uniform() * (high - low);
  }
  int Index(int size) { return static_cast<int>(Uniform() * size); }
  uint64_t Incarnation() { return random_() | 1; }

  // Calls `event` after `delay`, or later, if `process` is paused then.
  void After(absl::Duration delay, ProcessPtr process,
             std::function<void()> event);

  // Runs until `done` returns true. DeadlineExceeded: the limit has passed, or
  // no events are left. An error of a process's CheckInvariants also ends it.
  absl::Status Run(const std::function<bool()>& done, absl::Duration limit);

  // Sends one call: `handle` runs at the server, and `answered` gets its result
  // at the client; both any number of times.
  template <typename Response>
  void Send(const ProcessPtr& client, const ProcessPtr& server,
            std::function<Response()> handle,
            std::function<void(Response)> answered) {
    Deliver(server, [this, client, handle = std::move(handle),
                     answered = std::move(answered)] {
      Deliver(client, [answered, response = handle()] { answered(response); });
    });
  }

  // Repeats a call until it is answered; `answered` is called once.
  template <typename Response>
  void Call(const ProcessPtr& client, const ProcessPtr& server,
            std::function<Response()> handle,
            std::function<void(Response)> answered) {
    auto is_open = std::make_shared<bool>(true);
    Attempt<Response>(
        client, server, std::move(handle),
        [is_open, answered = std::move(answered)](Response r) {
          if (std::exchange(*is_open, false)) {
            answered(std::move(r));
          }
        },
        is_open);
  }

 private:
  struct Event {
    absl::Time time;
    uint64_t number;
    ProcessPtr process;
    std::function<void()> run;

    // The earliest event first; of equal times, the one that was added first.
    bool operator<(const Event& other) const {
      return std::tie(time, number) > std::tie(other.time, other.number);
    }
  };

  // Carries a message over the network.
  void Deliver(const ProcessPtr& to, const std::function<void()>& receive);
  absl::Duration Delay();

  template <typename Response>
  void Attempt(ProcessPtr client, ProcessPtr server,
               std::function<Response()> handle,
               std::function<void(Response)> answered,
               std::shared_ptr<bool> is_open) {
    Send<Response>(client, server, handle, answered);
    After(network_.retry_after, client, [=, this] {
      if (*is_open) {
        Attempt<Response>(client, server, handle, answered, is_open);
      }
    });
  }

  std::mt19937_64 random_;
  const NetworkOptions network_;
  absl::Time now_ = absl::FromUnixSeconds(1'000'000);
  uint64_t event_count_ = 0;
  std::priority_queue<Event> events_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_SIMULATION_SIMULATOR_H_
