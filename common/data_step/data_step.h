// Steps of preprocessing: what happens to an array of each example before it
// becomes a row of a batch, as by Keras' preprocessing layers in a tf.data map.
//
// A step is one file with its field table, and a line in data_steps.cc. Arrays
// are float32 in C order; those of images have the channels last, or, as
// (height, width), a single channel.
#ifndef PACELINE_COMMON_DATA_STEP_DATA_STEP_H_
#define PACELINE_COMMON_DATA_STEP_DATA_STEP_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/data_step/step_random.h"
#include "common/tensor/shape.h"

namespace paceline {

// Not thread-safe: each thread has steps of its own.
class DataStep {
 public:
  virtual ~DataStep() = default;

  // Its name in a job: Keras' class name.
  virtual absl::string_view class_name() const = 0;

  // Whether it draws random numbers.
  virtual bool is_random() const { return false; }

  // Makes it what it is in validation, without random numbers; false: nothing.
  virtual bool LeaveOutRandom() { return !is_random(); }

  // Whether it is applied to the labels instead of the features.
  virtual bool is_of_labels() const { return false; }

  // Prepares for arrays of shape `input`, and returns the shape of what it
  // makes of them. InvalidArgument if it takes no such arrays.
  virtual absl::StatusOr<Shape> Build(const Shape& input) = 0;

  // Writes what becomes of `in` to `out`, which do not overlap. The same draws
  // of `random` give the same values in every process. InvalidArgument for
  // values that it does not take. Allocates nothing, unless it fails.
  virtual absl::Status Apply(const float* in, float* out,
                             StepRandom& random) = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_DATA_STEP_H_
