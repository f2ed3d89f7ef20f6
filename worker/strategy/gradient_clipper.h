// Clips gradients in host memory.
#ifndef PACELINE_WORKER_STRATEGY_GRADIENT_CLIPPER_H_
#define PACELINE_WORKER_STRATEGY_GRADIENT_CLIPPER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/optimizer/clipping.h"
#include "common/sharding/shard_plan.h"
#include "worker/device/device.h"

namespace paceline {

// Not thread-safe. Allocates only in the constructor.
class GradientClipper {
 public:
  // `plan` and `state` must outlive the clipper.
  GradientClipper(const Clipping& clipping, const ShardPlan& plan,
                  ModelState& state);

  bool is_active() const { return clipping_.is_active(); }
  bool needs_norms() const { return clipping_.needs_norms(); }

  // Clips all gradients; this replica must have all of them.
  void ClipAll();
  // Clips the gradients of one bucket; only for clipping that needs no norms.
  void ClipValues(int bucket);

  // Clipping where each replica has a part of each bucket, in three steps.
  // First: BeginNorms, then AddNorms for each part of this replica.
  void BeginNorms();
  void AddNorms(int bucket, int64_t begin, int64_t count);
  // Second: the caller sums these over the replicas, in place.
  absl::Span<double> squared_norms() { return absl::MakeSpan(norms_); }
  // Third: EndNorms, then Clip for each part of this replica.
  void EndNorms();
  void Clip(int bucket, int64_t begin, int64_t count);

 private:
  // Calls `visit(variable, gradients)` for each variable in [begin, begin +
  // count) of a bucket, with its gradients in that range.
  template <typename Visit>
  void VisitParts(int bucket, int64_t begin, int64_t count, Visit visit);

  const Clipping clipping_;
  const ShardPlan& plan_;
  ModelState& state_;
  // By variable: Σ g², later the clipping factor.
  std::vector<double> norms_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_GRADIENT_CLIPPER_H_
