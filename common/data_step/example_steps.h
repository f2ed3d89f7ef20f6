// The steps of a data set, applied to the examples of a source.
#ifndef PACELINE_COMMON_DATA_STEP_EXAMPLE_STEPS_H_
#define PACELINE_COMMON_DATA_STEP_EXAMPLE_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/config/keras_object.h"
#include "common/data_source/data_source.h"
#include "common/data_step/data_step.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

struct StepOptions {
  // In their order. Those of features are applied to each array of features,
  // with the same draws.
  std::vector<KerasObject> steps;
  uint64_t seed = 0;
  // Whether random steps are left out, as in validation.
  bool without_random = false;
};

StepOptions StepOptionsOf(const v1::Dataset& dataset, uint64_t seed);

// Not thread-safe: each thread has one of its own.
class ExampleSteps {
 public:
  // For examples of `spec`. InvalidArgument names the step that is malformed or
  // does not take what it gets.
  static absl::StatusOr<ExampleSteps> Create(const StepOptions& options,
                                             const ExampleSpec& spec);

  // What examples have after the steps: arrays with steps are of float32.
  const ExampleSpec& spec() const { return spec_; }

  // What becomes of example `index` of the source in pass `pass` over it (see
  // ExamplePass): valid until the next call, and as long as `example` is.
  // Errors name the step. Allocates only in the first call, unless it fails.
  absl::StatusOr<const Example*> Apply(const Example& example, int64_t pass,
                                       int64_t index);

 private:
  struct PlacedStep {
    std::unique_ptr<DataStep> step;
    // Its index in the job's list.
    size_t place = 0;
    // Numbers in what it makes.
    int64_t size = 0;
  };

  // The steps of one array.
  struct Chain {
    std::vector<PlacedStep> steps;
    // Of what a step reads and what it writes.
    std::vector<float> memory[2];
  };

  explicit ExampleSteps(uint64_t seed) : seed_(seed) {}
  absl::StatusOr<Chain> MakeChain(const StepOptions& options, bool of_labels,
                                  ArraySpec& array);
  static absl::Status ApplyChain(const ExamplePass& pass, Chain& chain,
                                 Elements& values);

  uint64_t seed_;
  bool has_steps_ = false;
  ExampleSpec spec_;
  std::vector<Chain> features_;
  std::vector<Chain> labels_;
  Example example_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_EXAMPLE_STEPS_H_
