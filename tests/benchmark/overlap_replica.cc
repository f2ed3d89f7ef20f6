#include "tests/benchmark/overlap_replica.h"

#include <glog/logging.h>

#include "absl/strings/str_cat.h"
#include "common/job/job_reader.h"
#include "worker/training_step.h"

namespace paceline {
namespace {

constexpr int kBatchSize = 256;

constexpr char kModel[] = R"(
model:
  layers:
    - Input: {shape: [1024]}
    - Dense: {units: 1024, activation: relu}
    - Dense: {units: 1024, activation: relu}
    - Dense: {units: 1024, activation: relu}
    - Dense: {units: 1024, activation: relu}
    - Dense: {units: 1024, activation: relu}
    - Dense: {units: 1024, activation: relu}
    - Dense: {units: 10}
loss: {SparseCategoricalCrossentropy: {from_logits: true}}
optimizer: SGD
data: {train: {idx: {features: f, labels: l}}}
batch_size_per_replica: 256
)";

}  // namespace

void CheckOk(const absl::Status& status) { CHECK(status.ok()) << status; }

v1::Job OverlapJob(const std::string& strategy) {
  JobReaderOptions reader;
  reader.check_files = false;
  const auto job = ReadJob(absl::StrCat(strategy, kModel), "job", {}, reader);
  CHECK(job.ok()) << job.status();
  return *job;
}

OverlapReplica::OverlapReplica(const v1::Job& job, bool holds_variables)
    : features_(kBatchSize * 1024, 0.01F), labels_(kBatchSize, 1) {
  auto replica = MakeReplica(job, {});
  CHECK(replica.ok()) << replica.status();
  replica_ = *std::move(replica);
  CompileOptions options;
  options.batch_size = kBatchSize;
  options.holds_variables = holds_variables;
  CheckOk(CompileReplica(job, options, *replica_));
  auto program = replica_->programs->Get(Mode::kTrain, kBatchSize);
  CHECK(program.ok()) << program.status();
  program_ = *program;
}

void OverlapReplica::Step(Strategy& strategy, int replica_count) {
  Batch batch;
  batch.count = kBatchSize;
  batch.loss_divisor = replica_count * kBatchSize;
  batch.features = {{DataType::kFloat32,
                     reinterpret_cast<const std::byte*>(features_.data())}};
  batch.labels = {{DataType::kInt32, labels_.data()}};
  Stream& stream = *replica_->stream;
  CheckOk(program_->SetBatch(batch, stream));
  strategy.BeginStep(v1::Progress(), /*ends_lease=*/false);
  CheckOk(RunSections(*program_, stream, strategy, [] {}));
  CheckOk(strategy.EndStep({}).status());
}

}  // namespace paceline
