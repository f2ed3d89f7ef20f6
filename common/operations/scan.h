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
// Invariant: gradients of constants are summed in the order of the backward's
// steps, so a repeat gives the same bits.
#ifndef PACELINE_COMMON_OPERATIONS_SCAN_H_
#define PACELINE_COMMON_OPERATIONS_SCAN_H_

#include <memory>
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

// Inputs: the carries, the sequences (at least one), the constants. Outputs:
// the last carries, the outputs.
class ScanOperation final : public Operation {
 public:
  static constexpr char kName[] = "Scan";

  // `gradient` is the body of the backward, which reads the last
  // `residual_count` outputs; if it has no function, there is no gradient.
  ScanOperation(ScanBody body, bool is_reversed, ScanBody gradient,
                int residual_count)
      : body_(std::move(body)),
        is_reversed_(is_reversed),
        gradient_(std::move(gradient)),
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
  ScanBody gradient_;
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
