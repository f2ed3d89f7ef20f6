#include "worker/device/cuda/plugin/cudnn_planner.h"

#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "glog/logging.h"
#include "worker/device/cuda/plugin/cudnn_engines.h"
#include "worker/device/cuda/plugin/cudnn_status.h"
#include "worker/device/cuda/plugin/measure_convolution.h"

namespace paceline::cuda {
namespace {

// Engines to measure, at most; the heuristics seldom rank a good engine lower.
constexpr size_t kMeasuredEngines = 8;

// An engine that supports its graph.
struct Candidate {
  CudnnDescriptor engine;
  CudnnDescriptor plan;
};

std::vector<Candidate> Candidates(std::vector<CudnnDescriptor> engines,
                                  size_t max_count) {
  std::vector<Candidate> candidates;
  for (CudnnDescriptor& engine : engines) {
    if (candidates.size() == max_count) break;
    absl::StatusOr<CudnnDescriptor> plan = MakeCudnnPlan(engine);
    if (plan.ok()) candidates.push_back({std::move(engine), *std::move(plan)});
  }
  return candidates;
}

// The index of the fastest candidate; 0 if they cannot be measured.
size_t Fastest(cudnnHandle_t handle, const ConvolutionShape& computed,
               const std::vector<Candidate>& candidates) {
  if (candidates.size() < 2) return 0;
  std::vector<const CudnnDescriptor*> plans;
  for (const Candidate& each : candidates) plans.push_back(&each.plan);
  const absl::StatusOr<size_t> fastest = FastestPlan(handle, computed, plans);
  if (fastest.ok()) return *fastest;
  LOG(WARNING) << "autotune: engines of a convolution were not measured, uses "
                  "cuDNN's first choice: "
               << fastest.status();
  return 0;
}

}  // namespace

CudnnPlanner::~CudnnPlanner() {
  // Destroy the graphs before the handle to which they refer.
  chosen_.clear();
  if (handle_ != nullptr) cudnnDestroy(handle_);
}

absl::StatusOr<std::unique_ptr<ConvolutionPlan>> CudnnPlanner::Plan(
    const ConvolutionShape& shape, Planning planning) {
  MutexLock lock(mutex_);
  if (handle_ == nullptr) {
    RETURN_IF_ERROR(ToStatus(cudnnCreate(&handle_), "cuDNN"));
  }
  const auto remembered = chosen_.find(shape);
  Algorithm algorithm;
  if (remembered != chosen_.end()) {
    algorithm = remembered->second;
  } else {
    const bool measures = planning == Planning::kForUse && options_.autotune &&
                          !options_.deterministic;
    ASSIGN_OR_RETURN(algorithm, Choose(shape, measures ? kMeasuredEngines : 1));
    if (planning == Planning::kForUse) chosen_[shape] = algorithm;
  }
  // Create a separate plan, since plans of some engines are not thread-safe.
  ASSIGN_OR_RETURN(CudnnDescriptor plan, MakeCudnnPlan(algorithm->engine));
  ASSIGN_OR_RETURN(const int64_t workspace, WorkspaceOf(plan));
  return std::make_unique<CudnnConvolution>(shape, algorithm, std::move(plan),
                                            workspace);
}

absl::StatusOr<CudnnPlanner::Algorithm> CudnnPlanner::Choose(
    const ConvolutionShape& shape, size_t max_candidates) {
  absl::StatusOr<Algorithm> algorithm = ChooseFor(shape, max_candidates);
  if (algorithm.ok() || (!shape.has_bias && !shape.has_relu)) return algorithm;
  // Some shapes have no engine that fuses bias and rectifier.
  ConvolutionShape bare = shape;
  bare.has_bias = false;
  bare.has_relu = false;
  return ChooseFor(bare, max_candidates);
}

absl::StatusOr<CudnnPlanner::Algorithm> CudnnPlanner::ChooseFor(
    const ConvolutionShape& computed, size_t max_candidates) {
  ASSIGN_OR_RETURN(CudnnGraph graph, MakeCudnnGraph(handle_, computed));
  ASSIGN_OR_RETURN(
      std::vector<CudnnDescriptor> engines,
      FindCudnnEngines(graph.graph, /*gpu=*/nullptr, options_, computed.type));
  std::vector<Candidate> candidates =
      Candidates(std::move(engines), max_candidates);
  if (candidates.empty()) {
    return absl::UnimplementedError("no engine of cuDNN can compute it");
  }
  const size_t best = Fastest(handle_, computed, candidates);
  return std::make_shared<const CudnnAlgorithm>(CudnnAlgorithm{
      computed, std::move(graph), std::move(candidates[best].engine)});
}

}  // namespace paceline::cuda
