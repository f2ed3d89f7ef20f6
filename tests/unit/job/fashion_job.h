// A job of which tests change some fields.
#ifndef PACELINE_TESTS_UNIT_JOB_FASHION_JOB_H_
#define PACELINE_TESTS_UNIT_JOB_FASHION_JOB_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/job/job_reader.h"

namespace paceline {

// Each field on a line of its own, for the tests of lines.
inline constexpr char kFashionJob[] = R"(strategy: parameter_server
model:
  layers:
    - Input: {shape: [28, 28, 1]}
    - Conv2D:
        filters: 32
        kernel_size: 3
    - Flatten:
    - Dense: {units: 10}
loss: {SparseCategoricalCrossentropy: {from_logits: true}}
optimizer:
  Adam:
    learning_rate: 0.001
metrics:
  - accuracy
data:
  train:
    idx:
      features: images.gz
      labels: /data/labels.gz
batch_size_per_replica: 64
)";

// As if `text` lay at /jobs/fashion.yaml.
inline absl::StatusOr<v1::Job> ReadFashion(
    const std::string& text, const std::vector<std::string>& overrides = {},
    JobReaderOptions options = {.check_files = false}) {
  return ReadJob(text, "/jobs/fashion.yaml", overrides, options);
}

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_JOB_FASHION_JOB_H_
