// A worker's messages to and from the only shard of the small job, for any
// transport.
#ifndef PACELINE_TESTS_UNIT_PS_SERVER_WORKER_MESSAGES_H_
#define PACELINE_TESTS_UNIT_PS_SERVER_WORKER_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "common/rpc/call_group.h"
#include "common/rpc/dense_values.h"
#include "paceline/v1/ps.pb.h"

namespace paceline {

inline constexpr size_t kElements = 26;
inline constexpr size_t kSize = kElements * sizeof(float);

// One call at a time; all gradients are 1.
class WorkerMessages {
 public:
  WorkerMessages(uint32_t rank, uint64_t ps_incarnation)
      : gradients_(kElements, 1.0f), variables_(kElements) {
    push_.set_ps_incarnation(ps_incarnation);
    push_.set_pull(true);
    push_.mutable_worker()->set_rank(rank);
    push_.mutable_worker()->set_incarnation(8 + rank);
    pull_.set_ps_incarnation(ps_incarnation);
    gradient_blocks_ = {
        {0,
         v1::DATA_TYPE_FLOAT32,
         0,
         {reinterpret_cast<const std::byte*>(gradients_.data()), kSize}}};
    variable_blocks_ = {
        {{reinterpret_cast<std::byte*>(variables_.data()), kSize}}};
  }

  const std::vector<float>& variables() const { return variables_; }
  const v1::PushResponse& pushed() const { return pushed_; }
  const v1::WorkerId& id() const { return push_.worker(); }

  // Waits until the started call ends.
  absl::Status Wait() {
    calls_.Wait();
    return calls_.status(0);
  }

 protected:
  // Gives the push the next sequence number.
  void AdvancePush() {
    push_.mutable_progress()->set_sequence(push_.progress().sequence() + 1);
  }

  CallGroup calls_{1};
  std::vector<float> gradients_;
  std::vector<float> variables_;
  std::vector<DenseValues> gradient_blocks_;
  std::vector<DenseBuffer> variable_blocks_;
  v1::PushRequest push_;
  v1::PushResponse pushed_;
  v1::PullRequest pull_;
  v1::PullResponse pulled_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_PS_SERVER_WORKER_MESSAGES_H_
