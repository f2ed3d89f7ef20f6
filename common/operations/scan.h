// A function that is computed for each step of a sequence, with carried state:
// recurrent layers.
//
//   carries, outputs[t] = body(carries, sequences[t], constants)
//
// for t in [0, length), or from the last to the first. Sequences have the time
// as axis 0.
//
// Going back is a scan too, in the opposite direction. Its body is made from
// the body's own operations: those of the body, and behind them those of its
// gradient (gradient.h), form one list, which is cut between the two. What the
// second part reads of the first is written by the forward as further outputs,
// the residuals, and comes to the backward as sequences. The gradients by the
// carries are its carries, and so are the sums of those by the constants:
//
//   forward:   carries, outputs[t], residuals[t] =
//                  body(carries, sequences[t], constants)
//   backward:  dcarries, dconstants, dsequences[t] =
//                  gradient(dcarries, dconstants,
//                           residuals[t], sequences[t], doutputs[t], constants)
//
// Invariant: the order of the sums by constants is that of the backward's
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

// A body and what its parameters and results are. Parameters: the carries, an
// element of each sequence, the constants. Results: the carries, which keep
// their types, and an element of each output.
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

  // `gradient` is the body of the backward, and the last `residual_count`
  // outputs are for it; without a function there is no gradient.
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
  // Real.
  std::vector<Tensor> carries;
  std::vector<Tensor> sequences;
  std::vector<Tensor> constants;
  // From the last element to the first.
  bool is_reversed = false;
  // Whether somebody differentiates it: residuals cost memory.
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
