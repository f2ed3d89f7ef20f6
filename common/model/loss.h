// Losses: typed configuration, and their lowering to operations.
#ifndef PACELINE_COMMON_MODEL_LOSS_H_
#define PACELINE_COMMON_MODEL_LOSS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/model/activation.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

class Path;
class Value;
struct ClassReference;
struct KerasObject;

// Immutable; thread-safe. Like a layer, each loss is one file in
// common/model/losses, with its members, field table and checks.
class Loss {
 public:
  virtual ~Loss() = default;

  // Keras' class name.
  virtual absl::string_view class_name() const = 0;

  // Whether labels are int32 class ids, of the output's shape without its last
  // axis, which is that of the classes; otherwise values of the output's shape.
  virtual bool has_sparse_labels() const { return false; }

  // If labels are class ids: one whose labels do not count, as if a mask left
  // their elements out. It need not be a class of the output.
  virtual std::optional<int64_t> ignored_class() const { return std::nullopt; }

  // Whether the config says that the output is logits. What the loss finally
  // reads is defined in loss_input.h.
  virtual bool reads_logits() const { return false; }

  // Whether it is a cross-entropy, which reads the logits behind a softmax or a
  // sigmoid.
  virtual bool has_logits_form() const { return false; }

  // Whether it may read the logits behind this activation.
  virtual bool AcceptsLogitsOf(ActivationFunction /*activation*/) const {
    return true;
  }

  // InvalidArgument if a model's output (without the batch axis) does not fit.
  // Unless overridden, it needs at least one axis.
  virtual absl::Status CheckOutput(const Shape& output) const;

  // Whether a mask can leave out elements: the elements' axes are the first
  // ones of `output`, or the loss is one number of the batch, which a mask
  // leaves as it is. Otherwise Keras raises an error.
  virtual bool FitsMask(const Shape& /*output*/) const { return true; }

  // Adds the loss's operations; returns the loss of each element of each
  // example, of shape (batch, ...), whose mean is the loss (masked_mean.h).
  // `input` is the output, or the logits before the activation if
  // `from_logits`. Labels are int32 ids of shape (batch, ...), without the
  // classes' axis, if sparse, else of the type and shape of `input`. Elements
  // whose label is the ignored_class are 0.
  virtual op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                           bool from_logits) const = 0;

  std::string name;
  // How examples' losses are reduced: to their mean, by the name used in the
  // config.
  std::string reduction = "sum_over_batch_size";

 protected:
  // `name`: Keras' default for the class.
  explicit Loss(std::string name) : name(std::move(name)) {}
};

// keras.config.epsilon(): keeps divisors and arguments of logarithms above 0.
inline constexpr double kEpsilon = 1e-7;

// Clips probabilities to [1e-7, 1 - 1e-7], so that their logarithms are finite.
op::Tensor ClipProbabilities(const op::Tensor& p);

// The loss that a job names, also by Keras' function names and aliases ("mse",
// "sparse_categorical_crossentropy"). Errors have their path below `path`.
absl::StatusOr<std::unique_ptr<const Loss>> MakeLoss(const KerasObject& object,
                                                     const Path& path);

// The same, but null if no loss has the name: for callers that know other
// names, too.
absl::StatusOr<std::unique_ptr<const Loss>> FindLoss(const KerasObject& object,
                                                     const Path& path);
std::vector<std::string> LossClassNames();
// Whether MakeLoss knows a loss by this name.
bool IsLossName(const std::string& name);

// In Keras' serialised form.
Value Serialize(const Loss& loss);

// The references of all losses, by class name.
std::vector<ClassReference> LossReferences();

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSS_H_
