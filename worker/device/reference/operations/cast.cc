#include "common/operations/cast.h"

#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluateCast(const op::Operation& /*operation*/,
                  const Evaluation& evaluation) {
  const Array& x = evaluation.input(0);
  Array& y = evaluation.output();
  const bool to_bool = y.data_type() == DataType::kBool;
  WithType(x.data_type(), [&](auto from) {
    WithType(y.data_type(), [&](auto to) {
      const auto values = x.values<decltype(from)>();
      using T = decltype(to);
      const absl::Span<T> results = y.values<T>();
      for (size_t i = 0; i < results.size(); ++i) {
        results[i] = static_cast<T>(to_bool ? values[i] != 0 : values[i]);
      }
    });
  });
}

}  // namespace paceline::reference
