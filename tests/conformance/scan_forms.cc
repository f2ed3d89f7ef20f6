#include "tests/conformance/scan_forms.h"

#include <memory>

#include "common/operations/binary_map.h"
#include "common/operations/compare.h"
#include "common/operations/constant.h"
#include "common/operations/map.h"
#include "common/operations/matrix_product.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "common/operations/scan.h"
#include "common/operations/select.h"

namespace paceline {
namespace {

// The gradients of scans whose kernels' gradients are products over all steps.
// Operands are elements of the sequence, of residuals and of an output's
// gradient, and the backward's carry.
op::Tensor GradientsOfKernels(absl::Span<const op::Tensor> in) {
  auto body = std::make_shared<op::Function>();
  const op::Tensor h = body->AddParameter(in[0].type());
  const op::Tensor x = body->AddParameter({in[0].data_type(), {2, 3}});
  const op::Tensor of_h = body->AddParameter(in[2].type());
  const op::Tensor of_x = body->AddParameter(in[3].type());
  const op::Tensor of_output = body->AddParameter(in[4].type());
  body->AddResult(op::MatrixProduct(h, of_h) + op::MatrixProduct(x, of_x));
  body->AddResult(op::MatrixProduct(x, of_output));
  const op::ScanResults results =
      op::Scan(body, {{in[0]}, {in[1]}, {in[2], in[3], in[4]}});
  return GradientsOf(
      InARow({results.carries[0], results.outputs[0]}, in[0].data_type()), in);
}

}  // namespace

std::vector<OperationForm> ScanForms() {
  const std::vector<Shape> in = {{2, 3}, {4, 2, 3}, {3, 3}, {3}};
  // A carry that is an output, too, one that is not, and an output that is the
  // element of the sequence.
  const auto scan = [](absl::Span<const op::Tensor> in, bool is_reversed) {
    auto body = std::make_shared<op::Function>();
    const op::Tensor h = body->AddParameter(in[0].type());
    const op::Tensor sum = body->AddParameter({in[0].data_type(), {3}});
    const op::Tensor x = body->AddParameter({in[0].data_type(), {2, 3}});
    const op::Tensor kernel = body->AddParameter(in[2].type());
    const op::Tensor bias = body->AddParameter(in[3].type());
    const op::Tensor product = op::MatrixProduct(h, kernel) + bias;
    const op::Tensor open = op::Greater(x, 0);
    const op::Tensor next = op::Tanh(op::Select(open, product * x, product));
    const op::Tensor of_step = op::Reshape(op::Sum(next, {0}), {3});
    body->AddResult(next);
    body->AddResult(sum * 0.5 + of_step);
    body->AddResult(next);
    body->AddResult(x);
    const op::Tensor zeros = op::ConstantLike(in[3], 0);
    return op::Scan(body, {.carries = {in[0], zeros + in[3]},
                           .sequences = {in[1]},
                           .constants = {in[2], in[3]},
                           .is_reversed = is_reversed});
  };
  const auto values = [=](bool is_reversed) {
    return [=](absl::Span<const op::Tensor> in) {
      const op::ScanResults results = scan(in, is_reversed);
      return InARow({results.carries[0], results.carries[1], results.outputs[0],
                     results.outputs[1]},
                    in[0].data_type());
    };
  };
  const auto gradients = [=](bool is_reversed) {
    return [=](absl::Span<const op::Tensor> in) {
      return GradientsOf(values(is_reversed)(in), in);
    };
  };
  return {OperationForm{"Scan", "forwards", in, values(false)},
          OperationForm{"Scan", "backwards", in, values(true)},
          OperationForm{"Scan", "gradients", in, gradients(false)},
          OperationForm{"Scan", "gradients_backwards", in, gradients(true)},
          OperationForm{"Scan",
                        "of_one_step",
                        {{2, 3}, {1, 2, 3}, {3, 3}, {3}},
                        values(false)},
          OperationForm{"Scan",
                        "gradients_of_kernels",
                        {{2, 4}, {4, 2, 3}, {4, 4}, {3, 4}, {3, 5}},
                        GradientsOfKernels},
          OperationForm{"Scan",
                        "gradients_of_kernels_of_one_step",
                        {{2, 4}, {1, 2, 3}, {4, 4}, {3, 4}, {3, 5}},
                        GradientsOfKernels}};
}

}  // namespace paceline
