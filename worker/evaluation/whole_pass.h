// The one lease of a pass over a data set, without a leader.
#ifndef PACELINE_WORKER_EVALUATION_WHOLE_PASS_H_
#define PACELINE_WORKER_EVALUATION_WHOLE_PASS_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "paceline/v1/coordinator.pb.h"
#include "worker/data/batch_pipeline.h"

namespace paceline {

// Gives a lease of all `count` examples of `phase`, then no more.
inline BatchPipeline::LeaseSource WholePass(v1::Phase phase, int64_t count) {
  std::optional<v1::Lease> lease(std::in_place);
  lease->set_id(1);
  lease->set_phase(phase);
  lease->set_end(static_cast<uint64_t>(count));
  return [lease]() mutable -> absl::StatusOr<std::optional<v1::Lease>> {
    return std::exchange(lease, std::nullopt);
  };
}

}  // namespace paceline

#endif  // PACELINE_WORKER_EVALUATION_WHOLE_PASS_H_
