#include "worker/device/cuda/plugin/cudnn_engines.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace paceline::cuda {
namespace {

using Notes = std::vector<cudnnBackendNumericalNote_t>;

absl::StatusOr<Notes> NotesOf(const CudnnDescriptor& engine_config) {
  ASSIGN_OR_RETURN(const std::vector<CudnnDescriptor> engines,
                   engine_config.Referred(CUDNN_ATTR_ENGINECFG_ENGINE,
                                          CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1));
  if (engines.empty()) return absl::InternalError("cuDNN names no engine");
  return engines[0].GetAll<cudnnBackendNumericalNote_t>(
      CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
}

bool KeepsTo(const GpuOptions& options, DataType type, const Notes& notes) {
  return std::none_of(notes.begin(), notes.end(),
                      [&](cudnnBackendNumericalNote_t note) {
                        switch (note) {
                          case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
                            return options.deterministic;
                          // For float32, tensor cores use TF32.
                          case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
                            return type == DataType::kFloat32 &&
                                   options.math_mode != MathMode::kTf32;
                          // These convert to half precision, whose range is too
                          // small.
                          case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
                          case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
                            return true;
                          default:
                            return false;
                        }
                      });
}

absl::StatusOr<std::vector<CudnnDescriptor>> Advised(
    const CudnnDescriptor& graph, const CudnnDescriptor* gpu,
    cudnnBackendHeurMode_t mode) {
  CudnnDescriptor advice(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  advice.Refer(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  advice.Set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
  if (gpu != nullptr) advice.Refer(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *gpu);
  RETURN_IF_ERROR(advice.Finalize());
  ASSIGN_OR_RETURN(const int64_t count,
                   advice.ReferredCount(CUDNN_ATTR_ENGINEHEUR_RESULTS));
  return advice.Referred(CUDNN_ATTR_ENGINEHEUR_RESULTS,
                         CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, count);
}

}  // namespace

absl::StatusOr<std::vector<CudnnDescriptor>> FindCudnnEngines(
    const CudnnDescriptor& graph, const CudnnDescriptor* gpu,
    const GpuOptions& options, DataType type) {
  std::vector<CudnnDescriptor> found;
  absl::Status error = absl::UnimplementedError("cuDNN has no engine for it");
  for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    absl::StatusOr<std::vector<CudnnDescriptor>> advised =
        Advised(graph, gpu, mode);
    if (!advised.ok()) {
      error = advised.status();
      continue;
    }
    for (CudnnDescriptor& engine : *advised) {
      ASSIGN_OR_RETURN(const Notes notes, NotesOf(engine));
      if (KeepsTo(options, type, notes)) found.push_back(std::move(engine));
    }
  }
  if (found.empty()) return error;
  return found;
}

absl::StatusOr<CudnnPlan> MakeCudnnPlan(CudnnDescriptor engine) {
  CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.Refer(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engine);
  RETURN_IF_ERROR(plan.Finalize());
  ASSIGN_OR_RETURN(const int64_t workspace, WorkspaceOf(plan));
  if (workspace > kMaxCudnnWorkspaceBytes) {
    return absl::UnimplementedError(
        absl::StrCat("the engine needs a workspace of ", workspace, " bytes"));
  }
  return CudnnPlan{std::move(engine), std::move(plan)};
}

absl::StatusOr<int64_t> WorkspaceOf(const CudnnDescriptor& plan) {
  return plan.Get<int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
}

}  // namespace paceline::cuda
