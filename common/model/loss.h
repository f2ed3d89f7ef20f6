// Losses: typed configuration, and the operations that they are made of.
#ifndef PACELINE_COMMON_MODEL_LOSS_H_
#define PACELINE_COMMON_MODEL_LOSS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

class Path;
class Value;
struct ClassReference;
struct KerasObject;

// Immutable; thread-safe. Like layers, each loss is one file in
// common/model/losses with its members, its field table and its checks.
class Loss {
 public:
  virtual ~Loss() = default;

  // Keras' class name.
  virtual absl::string_view class_name() const = 0;

  // Whether labels are int32 class ids of shape [batch], rather than values of
  // the shape of the output.
  virtual bool has_sparse_labels() const = 0;

  // Whether the config says that the output is logits. What the loss reads in
  // the end, loss_input.h says.
  virtual bool reads_logits() const { return false; }

  // Whether it is a cross-entropy, which can be computed from logits.
  virtual bool has_logits_form() const { return false; }

  // InvalidArgument if a model's output (without the batch) does not fit.
  virtual absl::Status CheckOutput(const Shape& output) const = 0;

  // Adds its operations; returns the loss of each example, of shape (batch).
  // `input` is the output, or the logits behind it if `from_logits`; labels are
  // int32 ids of shape (batch) if sparse, else of the type and shape of
  // `input`.
  virtual op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                           bool from_logits) const = 0;

  std::string name;
  // How the losses of examples become one: their mean, by the name that the
  // config has for it.
  std::string reduction = "sum_over_batch_size";

 protected:
  // `name` is Keras' default for the class.
  explicit Loss(std::string name) : name(std::move(name)) {}
};

// The mean over all axes but the batch, of shape (batch).
op::Tensor MeanOfExamples(const op::Tensor& x);
// Probabilities in [1e-7, 1 - 1e-7], whose logarithm is finite.
op::Tensor ClipProbabilities(const op::Tensor& p);

// The loss a job names; also by Keras' names and aliases ("mse",
// "sparse_categorical_crossentropy"). Errors carry their path below `path`, or
// below "loss".
absl::StatusOr<std::unique_ptr<const Loss>> MakeLoss(const KerasObject& object,
                                                     const Path& path);
absl::StatusOr<std::unique_ptr<const Loss>> MakeLoss(
    const v1::KerasObject& object);

// The same, but null if no loss has the name: for those who know other names
// too.
absl::StatusOr<std::unique_ptr<const Loss>> FindLoss(const KerasObject& object,
                                                     const Path& path);
std::vector<std::string> LossClassNames();

// As Keras serializes it.
Value Serialize(const Loss& loss);

// Every loss, by class name.
std::vector<ClassReference> LossReferences();

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSS_H_
