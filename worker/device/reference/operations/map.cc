#include "common/operations/map.h"

#include <cmath>

#include "glog/logging.h"
#include "worker/device/reference/operations/operations.h"
#include "worker/device/sigmoid.h"

namespace paceline::reference {
namespace {

template <typename T>
T Compute(op::MapFunction function, T x) {
  switch (function) {
    case op::MapFunction::kAbs:
      return std::abs(x);
    case op::MapFunction::kSign:
      // NaN stays NaN.
      return x > 0 ? T{1} : x < 0 ? T{-1} : x;
    case op::MapFunction::kFloor:
      return std::floor(x);
    case op::MapFunction::kExp:
      return std::exp(x);
    case op::MapFunction::kExpm1:
      return std::expm1(x);
    case op::MapFunction::kLog:
      return std::log(x);
    case op::MapFunction::kLog1p:
      return std::log1p(x);
    case op::MapFunction::kSqrt:
      return std::sqrt(x);
    case op::MapFunction::kTanh:
      return std::tanh(x);
    case op::MapFunction::kSigmoid:
      return SigmoidOf(x);
    case op::MapFunction::kSoftplus:
      return SoftplusOf(x);
    case op::MapFunction::kErfc:
      return std::erfc(x);
    case op::MapFunction::kRelu:
      return x < 0 ? T{0} : x;
  }
  LOG(FATAL) << static_cast<int>(function);
}

}  // namespace

void EvaluateMap(const op::Operation& operation, const Evaluation& evaluation) {
  const auto function =
      static_cast<const op::MapOperation&>(operation).function();
  const Array& x = evaluation.input(0);
  WithRealType(x.data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<const T> from = x.values<T>();
    const absl::Span<T> to = evaluation.output().values<T>();
    for (size_t i = 0; i < to.size(); ++i) to[i] = Compute(function, from[i]);
  });
}

}  // namespace paceline::reference
