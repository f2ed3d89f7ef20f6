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

// A plan of one of the engines that were found.
struct Candidate {
  size_t engine_index = 0;
  CudnnPlan plan;
};

std::vector<Candidate> Candidates(std::vector<CudnnDescriptor> engines,
                                  size_t max_count) {
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < engines.size(); ++i) {
    if (candidates.size() == max_count) break;
    absl::StatusOr<CudnnPlan> plan = MakeCudnnPlan(std::move(engines[i]));
    if (plan.ok()) candidates.push_back({i, *std::move(plan)});
  }
  return candidates;
}

// The index of the fastest candidate; 0 if they cannot be measured.
size_t Fastest(cudnnHandle_t handle, const ConvolutionShape& computed,
               const std::vector<Candidate>& candidates) {
  if (candidates.size() < 2) return 0;
  std::vector<const CudnnDescriptor*> plans;
  for (const Candidate& each : candidates) plans.push_back(&each.plan.plan);
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
  ASSIGN_OR_RETURN(Choice choice, ChooseOnce(shape, planning));
  ASSIGN_OR_RETURN(const int64_t workspace, WorkspaceOf(choice.plan.plan));
  return std::make_unique<CudnnConvolution>(shape, std::move(choice.algorithm),
                                            std::move(choice.plan), workspace);
}

absl::StatusOr<CudnnPlanner::Choice> CudnnPlanner::ChooseOnce(
    const ConvolutionShape& shape, Planning planning) {
  const auto remembered = chosen_.find(shape);
  if (remembered != chosen_.end()) return PlanAgain(remembered->second);
  const bool measures = planning == Planning::kForUse && options_.autotune &&
                        !options_.deterministic;
  ASSIGN_OR_RETURN(Choice choice,
                   Choose(shape, measures ? kMeasuredEngines : 1));
  if (planning == Planning::kForUse) chosen_[shape] = choice.algorithm;
  return choice;
}

absl::StatusOr<CudnnPlanner::Choice> CudnnPlanner::Choose(
    const ConvolutionShape& shape, size_t max_candidates) {
  absl::StatusOr<Choice> choice = ChooseFor(shape, max_candidates);
  if (choice.ok() || (!shape.has_bias && !shape.has_relu)) return choice;
  // Some shapes have no engine that fuses bias and rectifier.
  ConvolutionShape bare = shape;
  bare.has_bias = false;
  bare.has_relu = false;
  return ChooseFor(bare, max_candidates);
}

absl::StatusOr<CudnnPlanner::Choice> CudnnPlanner::ChooseFor(
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
  Candidate& best = candidates[Fastest(handle_, computed, candidates)];
  return Choice{std::make_shared<const CudnnAlgorithm>(CudnnAlgorithm{
                    computed, std::move(graph), best.engine_index}),
                std::move(best.plan)};
}

absl::StatusOr<CudnnPlanner::Choice> CudnnPlanner::PlanAgain(
    Algorithm algorithm) {
  ASSIGN_OR_RETURN(std::vector<CudnnDescriptor> engines,
                   FindCudnnEngines(algorithm->graph.graph, /*gpu=*/nullptr,
                                    options_, algorithm->computed.type));
  const size_t index = algorithm->engine_index;
  if (index >= engines.size()) {
    return absl::InternalError("cuDNN names fewer engines than before");
  }
  ASSIGN_OR_RETURN(CudnnPlan plan, MakeCudnnPlan(std::move(engines[index])));
  return Choice{std::move(algorithm), std::move(plan)};
}

}  // namespace paceline::cuda
