// A loop over the steps of a sequence, with carried state, for recurrent
// layers:
//
//   carries, outputs[t] = body(carries, sequences[t], constants)
//
// for t in [0, length), or in reverse order. Axis 0 of sequences is time. This
// is jax.lax.scan with constants.
//
// The backward is a scan in the opposite direction. Its body is derived from
// the forward's body: the body's operations, followed by those of its gradient
// (gradient.h), are one list, which is cut between the two. What the second
// part reads of the first, the forward writes as additional outputs
// (residuals), which the backward reads as sequences; only conditions are
// computed again. The carries of the backward are the gradients of the carries,
// and the sums of the gradients of constants:
//
//   forward:   carries, outputs[t], residuals[t] =
//                  body(carries, sequences[t], constants)
//   backward:  dcarries, dconstants, dsequences[t] =
//                  gradient(dcarries, dconstants,
//                           residuals[t], sequences[t], doutputs[t], constants)
//
// The gradient of a recurrent kernel is a product in each step: Lᵀ · R, with a
// row per example. Over all steps their sum is one product, whose operands have
// a row per step and example. So the backward does not sum it, but writes the
// elements of L and R as outputs, and the product follows the loop. It is one
// large product in place of many small ones and as many additions.
//
// Invariant: a repeat gives the same bits wherever the device's operations do,
// on the CPU with the same number of threads: the product is one of them, and
// other gradients of constants are summed in the order of the backward's steps.
#ifndef PACELINE_COMMON_OPERATIONS_SCAN_H_
#define PACELINE_COMMON_OPERATIONS_SCAN_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

// A body with the meaning of its parameters and results. Parameters: the
// carries, an element of each sequence, the constants. Results: the carries, of
// the same types, and an element of each output.
struct ScanBody {
  std::shared_ptr<const Function> function;
  int carry_count = 0;
  int sequence_count = 0;

  int constant_count() const {
    return static_cast<int>(function->parameters().size()) - carry_count -
           sequence_count;
  }
  int output_count() const {
    return static_cast<int>(function->results().size()) - carry_count;
  }
};

// Operands L and R of a product over all steps, as numbers: first of the
// backward's sequences, then of its outputs.
struct ProductOverSteps {
  int left = 0;
  int right = 0;
};

struct ScanBackward {
  // Carries: the gradients of the carries, then the sums of the gradients of
  // those floating-point constants that have no product. Sequences: the
  // residuals, the sequences, the gradients of floating-point outputs.
  // Constants: the constants. Outputs: the gradients of floating-point
  // sequences, then operands of products.
  ScanBody body;
  // By floating-point constant: the product that is its gradient, if there is
  // one.
  std::vector<std::optional<ProductOverSteps>> products;
};

// Inputs: the carries, the sequences (at least one), the constants. Outputs:
// the last carries, the outputs.
class ScanOperation final : public Operation {
 public:
  static constexpr char kName[] = "Scan";

  // The backward reads the last `residual_count` outputs; if its body has no
  // function, there is no gradient.
  ScanOperation(ScanBody body, bool is_reversed, ScanBackward backward,
                int residual_count)
      : body_(std::move(body)),
        is_reversed_(is_reversed),
        backward_(std::move(backward)),
        residual_count_(residual_count) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

  const ScanBody& body() const { return body_; }
  bool is_reversed() const { return is_reversed_; }

 private:
  ScanBody body_;
  bool is_reversed_;
  ScanBackward backward_;
  int residual_count_;
};

struct ScanArguments {
  // Must be floating-point.
  std::vector<Tensor> carries;
  std::vector<Tensor> sequences;
  std::vector<Tensor> constants;
  // Processes the last element first.
  bool is_reversed = false;
  // Whether the scan will be differentiated, since residuals need memory.
  bool has_gradient = true;
};

struct ScanResults {
  std::vector<Tensor> carries;
  std::vector<Tensor> outputs;
};

ScanResults Scan(std::shared_ptr<const Function> body,
                 const ScanArguments& arguments);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_SCAN_H_
