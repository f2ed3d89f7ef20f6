// Finds the first step of training whose loss is infinite or no number, and
// whose it was.
//
// A worker with leases of its own is the first as soon as it tells of such a
// step. Workers that share leases take each step together, but tell of it each
// in its own time: the first is known once all have told of as many steps.
#ifndef PACELINE_COMMON_SESSION_LOSS_WATCH_H_
#define PACELINE_COMMON_SESSION_LOSS_WATCH_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>

#include "absl/strings/string_view.h"
#include "common/cluster/task.h"

namespace paceline {

// A loss of training that is infinite or no number.
struct NonfiniteLoss {
  TaskId worker;
  // From 0.
  int epoch = 0;
  // Of the job, from 1, in the order of the data: without parameter servers, or
  // where they wait for all workers, that is the order of the steps.
  int64_t step = 0;
  // What it had become when the worker told of it.
  double value = 0;
};

// "nan", "inf" or "-inf".
absl::string_view NonfiniteName(double value);

// Not thread-safe; a value.
class LossWatch {
 public:
  // `workers_per_lease`: how many share each; 1: each worker has its own.
  explicit LossWatch(int workers_per_lease = 1)
      : workers_per_lease_(workers_per_lease) {}

  // A step of a lease, from 1; workers take leases in the order of their ids.
  struct Position {
    uint64_t lease_id = 0;
    int64_t step = 0;
    // The check takes the 0 of a defaulted comparison for a null pointer.
    // NOLINTNEXTLINE(modernize-use-nullptr)
    auto operator<=>(const Position&) const = default;
  };

  // The worker has taken all steps up to this one.
  void Reached(TaskId worker, Position position);
  // Its loss was bad there. To be told before it is told that the step was
  // reached.
  void Found(Position position, const NonfiniteLoss& loss);

  // The first of those that were found, and of several in the same step that of
  // the lowest rank; nullopt while somebody may have been before it.
  std::optional<NonfiniteLoss> first() const;
  // The same, of what is known so far.
  const std::optional<NonfiniteLoss>& found() const { return found_; }

 private:
  int workers_per_lease_;
  std::map<TaskId, Position> reached_;
  Position position_;
  std::optional<NonfiniteLoss> found_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LOSS_WATCH_H_
