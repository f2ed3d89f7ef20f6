// Clips the gradients that a replica holds in host memory.
#ifndef PACELINE_WORKER_STRATEGY_GRADIENT_CLIPPER_H_
#define PACELINE_WORKER_STRATEGY_GRADIENT_CLIPPER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/optimizer/clipping.h"
#include "common/sharding/shard_plan.h"
#include "worker/device/device.h"

namespace paceline {

// Not thread-safe. Does not allocate after its construction.
class GradientClipper {
 public:
  // `plan` and `state` outlive the clipper.
  GradientClipper(const Clipping& clipping, const ShardPlan& plan,
                  ModelState& state);

  bool is_active() const { return clipping_.is_active(); }
  bool needs_norms() const { return clipping_.needs_norms(); }

  // Clips all gradients; they are all here.
  void ClipAll();
  // Clips those of one bucket, where that takes no norms.
  void ClipValues(int bucket);

  // The same where each replica holds a part of each bucket, in steps: the
  // norms of the own parts …
  void BeginNorms();
  void AddNorms(int bucket, int64_t begin, int64_t count);
  // … which the caller adds up over the replicas, in place …
  absl::Span<double> squared_norms() { return absl::MakeSpan(norms_); }
  // … and the own parts clipped by the sums.
  void EndNorms();
  void Clip(int bucket, int64_t begin, int64_t count);

 private:
  // Calls `visit(variable, gradients)` for what [begin, begin + count) of a
  // bucket holds of each variable.
  template <typename Visit>
  void VisitParts(int bucket, int64_t begin, int64_t count, Visit visit);

  const Clipping clipping_;
  const ShardPlan& plan_;
  ModelState& state_;
  // By variable: Σ g², then the factors.
  std::vector<double> norms_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_GRADIENT_CLIPPER_H_
