// Finds tensors of a function that an operation may overwrite.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_OVERWRITING_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_OVERWRITING_H_

#include <vector>

#include "common/operations/function.h"

namespace paceline {

// Tracks the calls of a function as they are added to a program, and finds an
// input that each call may overwrite: the output of an earlier call, of the
// right type, that no later call reads. Parameters (which the caller owns),
// constants (which each step reads again) and results are never overwritten.
//
// Call Pass for each call. A call must be passed after the calls whose outputs
// it reads.
class Overwriting {
 public:
  // The function must outlive the object.
  explicit Overwriting(const op::Function& function);

  // Allows overwriting the parameter, since nobody else reads it.
  void Allow(int parameter) { is_ours_[memories_[parameter]] = true; }

  // The call is added now, or will never be.
  void Pass(const op::Call& call);

  // An input that the last passed call may overwrite with its first output. -1:
  // none.
  int OverwritableBy(const op::Call& call) const;

  // Whether a call that has not been passed reads the tensor's memory.
  bool IsRead(int tensor) const { return reads_left_[memories_[tensor]] > 0; }

  // The tensor that owns the memory: the tensor itself, or the one it is a
  // reshape of.
  int MemoryOf(int tensor) const { return memories_[tensor]; }

 private:
  const op::Function& function_;
  // By tensor.
  const std::vector<int> memories_;
  // By memory: whether it may be overwritten.
  std::vector<bool> is_ours_;
  std::vector<bool> is_result_;
  std::vector<int> reads_left_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_OVERWRITING_H_
