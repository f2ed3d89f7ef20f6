// How fast a worker's readers make batches of a data set, steps included.
//
//   batch_benchmark '{images: {folder: /d, image_size: [224, 224]}}' 32 2
//
// reads batches of 32 with 2 readers at most. After a pass over the data that
// is not timed, prints the examples, the seconds and the seconds of CPU of
// another one as JSON.
#include <cstdint>
#include <ctime>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/freed_memory.h"
#include "common/config/path.h"
#include "common/config/yaml_reader.h"
#include "common/data_source/sources.h"
#include "common/data_step/example_steps.h"
#include "common/job/job_fields.h"
#include "common/limits.h"
#include "glog/logging.h"
#include "worker/data/batch_pipeline.h"
#include "worker/setup/datasets.h"

namespace paceline {
namespace {

constexpr absl::Duration kLongestWait = absl::Minutes(2);

// All arrays of the examples, as if a model took them.
ModelArrays ArraysOf(const ExampleSpec& spec) {
  ModelArrays arrays;
  for (const ArraySpec& array : spec.features) {
    arrays.inputs.push_back({array.name, array.shape});
  }
  for (const ArraySpec& array : spec.labels) {
    arrays.outputs.push_back({array.name, array.shape});
  }
  return arrays;
}

// A lease for each of `passes` passes over the training set.
BatchPipeline::LeaseSource LeasesOf(int passes, int64_t examples) {
  return [=, pass = 0]() mutable -> absl::StatusOr<std::optional<v1::Lease>> {
    if (pass == passes) return std::nullopt;
    v1::Lease lease;
    lease.set_id(pass + 1);
    lease.set_phase(v1::PHASE_TRAIN);
    lease.set_epoch(pass++);
    lease.set_end(examples);
    return lease;
  };
}

// Reads the batches of a lease to its end.
void ReadLease(BatchPipeline& pipeline) {
  bool ended = false;
  while (!ended) {
    const auto batch = pipeline.Next(kLongestWait);
    CHECK(batch.ok()) << batch.status();
    CHECK(*batch != nullptr) << "no batch within " << kLongestWait;
    ended = (*batch)->ends_lease;
    pipeline.Release(*batch);
  }
}

void Run(const std::string& text, int64_t batch_size, int readers) {
  const auto value = ReadYaml(text, "DATASET", limits::kMaxJobBytes);
  CHECK(value.ok()) << value.status();
  const auto dataset =
      FieldsOf(static_cast<const v1::Dataset*>(nullptr)).Read(*value, Path());
  CHECK(dataset.ok()) << dataset.status();
  const auto source = OpenDataSource(*dataset);
  CHECK(source.ok()) << source.status();
  const int64_t examples = (*source)->example_count();

  PipelineOptions options;
  PhaseData& phase = options.phases[v1::PHASE_TRAIN];
  phase = WholeOf(**source, *dataset, /*seed=*/1, batch_size);
  phase.order.shuffle = dataset->shuffle();
  const auto steps = ExampleSteps::Create(phase.steps, (*source)->spec());
  CHECK(steps.ok()) << steps.status();
  options.model = ArraysOf(steps->spec());
  options.readers = readers;
  const auto pipeline = BatchPipeline::Create(options, LeasesOf(2, examples));
  CHECK(pipeline.ok()) << pipeline.status();

  ReadLease(**pipeline);
  const absl::Time start = absl::Now();
  const std::clock_t cpu_start = std::clock();
  ReadLease(**pipeline);
  std::cout << absl::StreamFormat(
      "{\"examples\": %d, \"seconds\": %g, \"cpu_seconds\": %g}\n", examples,
      absl::ToDoubleSeconds(absl::Now() - start),
      static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace paceline

int main(int argc, char** argv) {
  google::InitGoogleLogging(argv[0]);
  // As a worker does.
  paceline::KeepFreedMemory();
  CHECK_EQ(argc, 4) << "batch_benchmark DATASET BATCH_SIZE READERS";
  int64_t batch_size = 0;
  int readers = 0;
  CHECK(absl::SimpleAtoi(argv[2], &batch_size) && batch_size > 0) << argv[2];
  CHECK(absl::SimpleAtoi(argv[3], &readers) && readers > 0) << argv[3];
  paceline::Run(argv[1], batch_size, readers);
}
