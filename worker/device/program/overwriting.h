// Which tensors of a function a device may write over.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_OVERWRITING_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_OVERWRITING_H_

#include <vector>

#include "common/operations/function.h"

namespace paceline {

// Follows how calls of a function are added to a program, and finds what each
// may write over: what an earlier call has computed, of the output's type in
// the function, that nobody reads any more. Parameters, which are somebody
// else's, constants, which each step reads again, and results are never written
// over.
//
// To be told of each call, in the order of the list as far as they read each
// other's outputs.
class Overwriting {
 public:
  // Of a function, which outlives it.
  explicit Overwriting(const op::Function& function);

  // Nobody else reads the parameter: it may be written over, like what is
  // computed.
  void Allow(int parameter) { is_ours_[memories_[parameter]] = true; }

  // The call is added now, or never will be.
  void Pass(const op::Call& call);

  // An input that the call, which was the last to be passed, may write its
  // first output over. -1: none.
  int OverwritableBy(const op::Call& call) const;

  // Whether a call that has not been passed reads the tensor's memory.
  bool IsRead(int tensor) const { return reads_left_[memories_[tensor]] > 0; }

  // The tensor whose memory the tensor shares: what was reshaped, or itself.
  int MemoryOf(int tensor) const { return memories_[tensor]; }

 private:
  const op::Function& function_;
  // By tensor.
  const std::vector<int> memories_;
  // By memory.
  std::vector<bool> is_ours_;
  std::vector<bool> is_result_;
  std::vector<int> reads_left_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_OVERWRITING_H_
