// Finds the first training step whose loss is NaN or infinite, and the worker
// that took it.
//
// If each worker has its own leases, the first report of such a step decides.
// Workers that share leases take each step together but report it at different
// times: the first such step is known once all workers have reported the steps
// before it.
#ifndef PACELINE_COMMON_SESSION_MACHINE_LOSS_WATCH_H_
#define PACELINE_COMMON_SESSION_MACHINE_LOSS_WATCH_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>

#include "absl/strings/string_view.h"
#include "common/cluster/task.h"

namespace paceline {

// A training loss that is NaN or infinite.
struct NonfiniteLoss {
  TaskId worker;
  // From 0.
  int epoch = 0;
  // The step's number in the job, from 1, in the order of the data. This is
  // also the order in which steps are taken, unless asynchronous workers have
  // their own leases.
  int64_t step = 0;
  // The running loss when the worker reported it.
  double value = 0;
};

// "nan", "inf" or "-inf".
absl::string_view NonfiniteName(double value);

// Not thread-safe; a value.
class LossWatch {
 public:
  // `workers_per_lease`: how many workers share each lease; 1: each has its own
  // leases.
  explicit LossWatch(int workers_per_lease = 1)
      : workers_per_lease_(workers_per_lease) {}

  // A step of a lease, from 1. Workers that share leases take them by ascending
  // id.
  struct Position {
    uint64_t lease_id = 0;
    int64_t step = 0;
    // clang-tidy takes the 0 in a defaulted comparison for a null pointer.
    // NOLINTNEXTLINE(modernize-use-nullptr)
    auto operator<=>(const Position&) const = default;
  };

  // The worker has taken all steps up to this position.
  void Reached(TaskId worker, Position position);
  // The worker's loss was not finite at this position. Call it before Reached
  // for the same position.
  void Found(Position position, const NonfiniteLoss& loss);

  // The first loss that was found; among several in the same step, that of the
  // lowest rank. nullopt while a worker may still report an earlier one.
  std::optional<NonfiniteLoss> first() const;
  // The first of the losses found so far, even if a worker may still report an
  // earlier one.
  const std::optional<NonfiniteLoss>& found() const { return found_; }

 private:
  int workers_per_lease_;
  std::map<TaskId, Position> reached_;
  Position position_;
  std::optional<NonfiniteLoss> found_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MACHINE_LOSS_WATCH_H_
