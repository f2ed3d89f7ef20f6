#include "common/operations/resize.h"

#include <vector>

#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {
namespace {

// Calls visit(input pixel, output pixel, weight).
template <typename Visit>
void ForEachShare(op::ResizeMode mode, const Shape& input, const Shape& output,
                  Visit visit) {
  const std::vector<op::ResizedElement> rows =
      op::ResizedElements(mode, input[1], output[1]);
  const std::vector<op::ResizedElement> columns =
      op::ResizedElements(mode, input[2], output[2]);
  int64_t out = 0;
  for (int64_t image = 0; image < input[0]; ++image) {
    for (const op::ResizedElement& row : rows) {
      for (const op::ResizedElement& column : columns) {
        const auto give = [&](int64_t y, int64_t x, double share) {
          visit((image * input[1] + y) * input[2] + x, out, share);
        };
        const double down = row.upper_share;
        const double right = column.upper_share;
        give(row.lower, column.lower, (1 - down) * (1 - right));
        give(row.lower, column.upper, (1 - down) * right);
        give(row.upper, column.lower, down * (1 - right));
        give(row.upper, column.upper, down * right);
        ++out;
      }
    }
  }
}

}  // namespace

void EvaluateResize(const op::Operation& operation,
                    const Evaluation& evaluation) {
  const op::ResizeMode mode =
      static_cast<const op::ResizeOperation&>(operation).mode();
  const Array& x = evaluation.input(0);
  Array& y = evaluation.output();
  const int64_t channels = x.shape().back();
  WithRealType(x.data_type(), [&](auto zero) {
    using T = decltype(zero);
    ForEachShare(
        mode, x.shape(), y.shape(), [&](int64_t in, int64_t out, double share) {
          for (int64_t c = 0; c < channels; ++c) {
            y.values<T>()[out * channels + c] +=
                static_cast<T>(share) * x.values<T>()[in * channels + c];
          }
        });
  });
}

void EvaluateResizeGradient(const op::Operation& operation,
                            const Evaluation& evaluation) {
  const op::ResizeMode mode =
      static_cast<const op::ResizeGradientOperation&>(operation).mode();
  const Array& dy = evaluation.input(0);
  Array& dx = evaluation.output();
  const int64_t channels = dx.shape().back();
  WithRealType(dx.data_type(), [&](auto zero) {
    using T = decltype(zero);
    ForEachShare(mode, dx.shape(), dy.shape(),
                 [&](int64_t in, int64_t out, double share) {
                   for (int64_t c = 0; c < channels; ++c) {
                     dx.values<T>()[in * channels + c] +=
                         static_cast<T>(share) *
                         dy.values<T>()[out * channels + c];
                   }
                 });
  });
}

}  // namespace paceline::reference
