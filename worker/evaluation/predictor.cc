#include "worker/evaluation/predictor.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "common/base/simd.h"
#include "common/base/status_macros.h"
#include "worker/data/batch_pipeline.h"
#include "worker/device/device.h"
#include "worker/evaluation/prediction_data.h"
#include "worker/evaluation/prediction_file.h"
#include "worker/evaluation/read_variables.h"
#include "worker/evaluation/stored_model.h"
#include "worker/evaluation/whole_pass.h"
#include "worker/setup/datasets.h"
#include "worker/setup/replica.h"

namespace paceline {
namespace {

using PredictionFilePtr = std::unique_ptr<PredictionFile>;

// Waits for a batch look for an interrupt at this interval.
constexpr absl::Duration kBatchWaitSlice = absl::Milliseconds(100);

// A replica with the variables of `model`.
absl::StatusOr<std::unique_ptr<Replica>> LoadReplica(StoredModel model,
                                                     const PredictionData& data,
                                                     int64_t batch_size,
                                                     int threads) {
  ASSIGN_OR_RETURN(std::unique_ptr<Replica> replica,
                   MakePredictingReplica(std::move(model.graph), data.job,
                                         {.threads = threads}));
  CompileOptions options;
  options.mode = Mode::kEvaluate;
  options.batch_size = batch_size;
  RETURN_IF_ERROR(CompileReplica(data.job, options, *replica));
  RETURN_IF_ERROR(ReadVariables<float>(replica->model.graph,
                                       replica->plan.layout(), *replica->state,
                                       *replica->stream, model.read));
  return replica;
}

// Computes the outputs of a batch and appends each to its file.
absl::Status AppendOutputs(const PreparedBatch& prepared, Replica& replica,
                           absl::Span<const PredictionFilePtr> files) {
  Batch batch;
  batch.count = prepared.count;
  batch.first_example = prepared.begin;
  for (const PreparedArray& array : prepared.features) {
    batch.features.push_back({array.type, array.data});
  }
  ASSIGN_OR_RETURN(Program * program,
                   replica.programs->Get(Mode::kEvaluate, batch.count));
  RETURN_IF_ERROR(program->SetBatch(batch, *replica.stream));
  for (size_t i = 0; i < program->sections().size(); ++i) {
    RETURN_IF_ERROR(program->Enqueue(static_cast<int>(i), *replica.stream));
  }
  ASSIGN_OR_RETURN(const std::vector<HostTensor> outputs,
                   program->Outputs(*replica.stream));
  for (size_t i = 0; i < files.size(); ++i) {
    const int64_t size = NumElements(replica.model.graph.output_shape(i));
    RETURN_IF_ERROR(files[i]->Append(absl::MakeSpan(
        static_cast<const float*>(outputs[i].data), batch.count * size)));
  }
  return absl::OkStatus();
}

absl::Status WriteOutputs(Replica& replica, BatchPipeline& pipeline,
                          absl::Span<const PredictionFilePtr> files,
                          const std::function<bool()>& interrupted,
                          const std::function<void(int64_t done)>& on_batch) {
  int64_t done = 0;
  while (!pipeline.has_ended()) {
    if (interrupted()) return absl::CancelledError("interrupted");
    ASSIGN_OR_RETURN(const PreparedBatch* prepared,
                     pipeline.Next(kBatchWaitSlice));
    if (prepared == nullptr) continue;
    RETURN_IF_ERROR(AppendOutputs(*prepared, replica, files));
    pipeline.Release(prepared);
    on_batch(++done);
  }
  for (const PredictionFilePtr& file : files) RETURN_IF_ERROR(file->Commit());
  return absl::OkStatus();
}

// The paths of the files of the outputs, in their order.
std::vector<std::string> PathsOf(const std::string& path, const Graph& graph) {
  std::vector<std::string> names;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    names.push_back(graph.output_name(i));
  }
  return PathsOfOutputs(path, names);
}

absl::StatusOr<std::vector<PredictionFilePtr>> CreateFiles(
    absl::Span<const std::string> paths, const Graph& graph, int64_t examples) {
  std::vector<PredictionFilePtr> files;
  for (size_t i = 0; i < paths.size(); ++i) {
    ASSIGN_OR_RETURN(
        files.emplace_back(),
        PredictionFile::Create(paths[i], examples, graph.output_shape(i)));
  }
  return files;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> Predict(
    const PredictOptions& options, const RemoteFilesOptions& data_access,
    int threads, const std::function<bool()>& interrupted,
    const std::function<void(int64_t done, int64_t batches)>& on_batch) {
  FlushDenormals();
  RETURN_IF_ERROR(CheckPredictionPath(options.output));
  ASSIGN_OR_RETURN(StoredModel model, OpenStoredModel(options.model));
  ASSIGN_OR_RETURN(const PredictionData data,
                   OpenPredictionData(options, RemoteFiles(data_access)));
  if (interrupted()) return absl::CancelledError("interrupted");
  PipelineOptions pipeline_options;
  pipeline_options.model = InputArraysOf(model.graph);
  const int64_t examples = data.source->example_count();
  const int64_t batch_size = std::clamp<int64_t>(examples, 1, data.batch_size);
  PhaseData phase =
      WholeOf(*data.source, data.dataset, data.job.seed(), batch_size);
  // A row is the prediction of its own example, or there is none.
  phase.skips_errors = false;
  phase.order.epoch_passes = 1;
  RETURN_IF_ERROR(CheckFits(phase, pipeline_options.model));
  std::vector<std::string> paths = PathsOf(options.output, model.graph);
  ASSIGN_OR_RETURN(const std::vector<PredictionFilePtr> files,
                   CreateFiles(paths, model.graph, examples));
  ASSIGN_OR_RETURN(const std::unique_ptr<Replica> replica,
                   LoadReplica(std::move(model), data, batch_size, threads));
  pipeline_options.phases[v1::PHASE_TEST] = phase;
  pipeline_options.readers = threads;
  ASSIGN_OR_RETURN(const std::unique_ptr<BatchPipeline> pipeline,
                   BatchPipeline::Create(pipeline_options,
                                         WholePass(v1::PHASE_TEST, examples)));
  const int64_t batches = (examples + batch_size - 1) / batch_size;
  RETURN_IF_ERROR(WriteOutputs(*replica, *pipeline, files, interrupted,
                               [&](int64_t done) { on_batch(done, batches); }));
  return paths;
}

}  // namespace paceline
