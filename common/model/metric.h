// Metrics: typed configuration, and their lowering to operations.
#ifndef PACELINE_COMMON_MODEL_METRIC_H_
#define PACELINE_COMMON_MODEL_METRIC_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/config/path.h"
#include "common/model/loss.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

class Value;
struct ClassReference;

// Immutable; thread-safe. Like a layer, each metric is one file in
// common/model/metrics.
//
// A metric has a state: a few numbers that are sums over examples and start at
// 0. States of batches, replicas and leases can be added. The metric's value is
// a function of the state. Most metrics are means over the examples, whose
// state is a total and a count; these only need Lower. The others need
// LowerState.
class Metric {
 public:
  virtual ~Metric() = default;

  // Keras' class name, such as "SparseCategoricalAccuracy".
  virtual absl::string_view class_name() const = 0;

  // The same as Loss::has_sparse_labels, with which it must agree.
  virtual bool has_sparse_labels() const { return false; }

  // The loss whose mean this metric is; null except for MeanLoss.
  virtual const Loss* mean_of() const { return nullptr; }
  // Whether it is the loss of the output itself, as Keras reports it if there
  // are several. A mask then weighs the elements of a batch as in the loss
  // (LossesOfExamples), otherwise all elements alike.
  virtual bool is_output_loss() const { return false; }

  // InvalidArgument if a model's output (without the batch axis) does not fit.
  // Unless overridden, it needs at least one axis.
  virtual absl::Status CheckOutput(const Shape& output) const;

  // Takes the shape of an output that fits. Called once, before the metric is
  // used, for a state whose size depends on the output.
  virtual void SetOutput(const Shape& /*output*/) {}

  // The same as Loss::FitsMask.
  virtual bool FitsMask(const Shape& /*output*/) const { return true; }

  // Whether the metric is a mean over the elements of the examples. If the
  // output has a mask, only elements that count are in it.
  virtual bool is_mean() const { return true; }
  // Numbers in the state: 2 for a mean; at most limits::kMaxMetricState.
  virtual int64_t state_size() const { return 2; }

  // Add the metric's operations; Lower those of a mean except MeanLoss. Lower
  // returns the values of the elements of each example, of shape (batch, ...);
  // LowerState what the batch adds to the state, of shape (state_size). The
  // result has the type of `output`, and so has `weights`, how much each
  // example counts, of shape (batch); nullopt: 1 each. Labels are as for the
  // loss.
  virtual op::Tensor Lower(const op::Tensor& output,
                           const op::Tensor& labels) const;
  virtual op::Tensor LowerState(const op::Tensor& output,
                                const op::Tensor& labels,
                                const std::optional<op::Tensor>& weights) const;

  // The value, from a state over at least one example. A large state may be all
  // 0, if the worker was lost before its lease ended (lease_table.h). A mean of
  // examples whose weights are 0 is 0.
  virtual double Result(absl::Span<const double> state) const {
    return state[1] == 0 ? 0 : state[0] / state[1];
  }

  // The key in logs, such as "accuracy".
  std::string name;
  // Whether the examples have their weights in it: it is one of Keras'
  // weighted_metrics.
  bool is_weighted = false;
};

// Some metrics that a job names for an output, and where it has them.
struct MetricObjects {
  const google::protobuf::RepeatedPtrField<v1::KerasObject>& objects;
  Path path;
};

// The metrics that a job names for an output, in its order, then those that are
// weighted. `loss`: of the output, with whose labels they must agree; null: it
// has none, and they agree with the first of them, which must not be
// "accuracy". That becomes the binary, categorical or sparse class, depending
// on the shapes. As in Keras, the second metric of the same name gets "_1"; a
// weighted one first "weighted_" in front. `prefix` precedes their names.
// Errors name the metric by its index.
absl::StatusOr<std::vector<std::unique_ptr<const Metric>>> MakeMetrics(
    const MetricObjects& metrics, const MetricObjects& weighted_metrics,
    const Loss* loss, const Shape& output, absl::string_view prefix);

// Whether a metric may have this name: a class, or its name in snake case.
bool IsMetricName(const std::string& name);

// ConfigError at `path` if the state is too large: together with the `taken`
// numbers of earlier metrics it may have limits::kMaxMetricState.
absl::Status CheckStateSize(const Metric& metric, int64_t taken,
                            const Path& path);

// In Keras' serialised form.
Value Serialize(const Metric& metric);

// The references of all metrics except means of losses, by class name.
std::vector<ClassReference> MetricReferences();

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRIC_H_
