// The model of overlap_benchmark: six layers of 4 MiB, which a replica trains
// on one batch.
#ifndef PACELINE_TESTS_BENCHMARK_OVERLAP_REPLICA_H_
#define PACELINE_TESTS_BENCHMARK_OVERLAP_REPLICA_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "paceline/v1/job.pb.h"
#include "worker/setup/replica.h"
#include "worker/strategy/strategy.h"

namespace paceline {

void CheckOk(const absl::Status& status);

// A job of that model. `strategy` are its lines that say how it is distributed.
v1::Job OverlapJob(const std::string& strategy);

class OverlapReplica {
 public:
  OverlapReplica(const v1::Job& job, bool holds_variables);

  Replica* operator->() { return replica_.get(); }
  const Replica* operator->() const { return replica_.get(); }

  // One step of training, by as many replicas.
  void Step(Strategy& strategy, int replica_count);

 private:
  const std::vector<float> features_;
  const std::vector<int32_t> labels_;
  std::unique_ptr<Replica> replica_;
  Program* program_ = nullptr;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_BENCHMARK_OVERLAP_REPLICA_H_
