// Metrics: typed configuration, and the operations that they are made of.
#ifndef PACELINE_COMMON_MODEL_METRIC_H_
#define PACELINE_COMMON_MODEL_METRIC_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/loss.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

class Path;
class Value;
struct ClassReference;

// Immutable; thread-safe. Like layers, each metric is one file in
// common/model/metrics.
//
// A metric keeps a state, a few numbers that are sums over examples and begin
// at 0: those of batches, replicas and leases add up. Its value is a function
// of the state. Most metrics are a mean over the examples, whose state is a
// total and a count; they have Lower alone.
class Metric {
 public:
  virtual ~Metric() = default;

  // Keras' class name, such as "SparseCategoricalAccuracy".
  virtual absl::string_view class_name() const = 0;

  // Whether labels are class ids: must be as the loss has it.
  virtual bool has_sparse_labels() const = 0;

  // The loss whose mean this is; null for all but MeanLoss.
  virtual const Loss* mean_of() const { return nullptr; }

  // InvalidArgument if a model's output (without the batch) does not fit.
  virtual absl::Status CheckOutput(const Shape& output) const = 0;

  // Whether it is a mean over the examples.
  virtual bool is_mean() const { return true; }
  // Numbers of the state: 2 of a mean, at most limits::kMaxMetricState.
  virtual int64_t state_size() const { return 2; }

  // Adds its operations. Of a mean it returns what each example contributes to
  // the total, of shape (batch), else what the batch adds to the state, of
  // shape (state_size); of the type of `output`. Labels are as the loss has
  // them. Of all but MeanLoss.
  virtual op::Tensor Lower(const op::Tensor& output,
                           const op::Tensor& labels) const = 0;

  // The value of a state, which has seen an example or more. A large one may be
  // all 0: the worker was lost before its lease ended (lease_table.h).
  virtual double Result(absl::Span<const double> state) const {
    return state[0] / state[1];
  }

  // The key in logs, such as "accuracy".
  std::string name;
};

// The metrics a job names, in its order. "accuracy" becomes binary, categorical
// or sparse by the shapes, and of equal names the second gets "_1", as in
// Keras. Errors name the metric.
absl::StatusOr<std::vector<std::unique_ptr<const Metric>>> MakeMetrics(
    const google::protobuf::RepeatedPtrField<v1::KerasObject>& objects,
    const Loss& loss, const Shape& output);

// ConfigError at `path` unless the state of a metric has room beside the
// `taken` numbers of those before it: limits::kMaxMetricState of all.
absl::Status CheckStateSize(const Metric& metric, int64_t taken,
                            const Path& path);

// As Keras serializes it. Unimplemented for a MeanLoss, which has no field
// table.
absl::StatusOr<Value> Serialize(const Metric& metric);

// Every metric that is no mean of a loss, by class name.
std::vector<ClassReference> MetricReferences();

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRIC_H_
