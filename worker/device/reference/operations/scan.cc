#include "common/operations/scan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {
namespace {

// Copies elements [from_start, from_start + size) to those from to_start on.
void CopyElements(const Array& from, int64_t from_start, int64_t size,
                  Array& to, int64_t to_start) {
  WithType(from.data_type(), [&](auto zero) {
    using T = decltype(zero);
    std::copy_n(from.values<T>().begin() + from_start, size,
                to.values<T>().begin() + to_start);
  });
}

}  // namespace

void EvaluateScan(const op::Operation& operation,
                  const Evaluation& evaluation) {
  const auto& scan = static_cast<const op::ScanOperation&>(operation);
  const op::ScanBody& body = scan.body();
  const op::Function& function = *body.function;
  std::vector<Array> carries;
  for (int i = 0; i < body.carry_count; ++i) {
    carries.push_back(evaluation.input(i));
  }
  // The element of each sequence at this step.
  std::vector<Array> elements;
  for (int i = 0; i < body.sequence_count; ++i) {
    elements.emplace_back(
        function.type(function.parameters()[body.carry_count + i]));
  }
  const int64_t length = evaluation.input(body.carry_count).shape()[0];
  for (int64_t step = 0; step < length; ++step) {
    const int64_t t = scan.is_reversed() ? length - 1 - step : step;
    std::vector<const Array*> arguments;
    for (const Array& carry : carries) arguments.push_back(&carry);
    for (int i = 0; i < body.sequence_count; ++i) {
      const int64_t size = elements[i].size();
      CopyElements(evaluation.input(body.carry_count + i), t * size, size,
                   elements[i], 0);
      arguments.push_back(&elements[i]);
    }
    for (int i = 0; i < body.constant_count(); ++i) {
      arguments.push_back(
          &evaluation.input(body.carry_count + body.sequence_count + i));
    }
    std::vector<Array> results = Evaluate(function, arguments, evaluation.step);
    for (int i = 0; i < body.output_count(); ++i) {
      const Array& element = results[body.carry_count + i];
      CopyElements(element, 0, element.size(),
                   evaluation.outputs[body.carry_count + i],
                   t * element.size());
    }
    for (int i = 0; i < body.carry_count; ++i) {
      carries[i] = std::move(results[i]);
    }
  }
  for (int i = 0; i < body.carry_count; ++i) {
    evaluation.outputs[i] = std::move(carries[i]);
  }
}

}  // namespace paceline::reference
