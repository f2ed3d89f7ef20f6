#include "common/model/seeded_values.h"

#include "common/model/initializer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
void SeededValues::FillAny(const VariableSpec& variable, int64_t begin,
                           absl::Span<T> out) {
  const Initializer& initializer = *variable.initializer;
  const RandomKey key = VariableKey(seed_, variable.name);
  const auto size = static_cast<size_t>(NumElements(variable.shape));
  if (!initializer.computes_whole() || out.size() == size) {
    initializer.Fill(key, variable.shape, begin, out);
    return;
  }
  if (name_ != variable.name) {
    name_ = variable.name;
    whole_.resize(size);
    initializer.Fill(key, variable.shape, 0, absl::MakeSpan(whole_));
  }
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<T>(whole_[static_cast<size_t>(begin) + i]);
  }
}

void SeededValues::Fill(const VariableSpec& variable, int64_t begin,
                        absl::Span<float> out) {
  FillAny(variable, begin, out);
}

void SeededValues::Fill(const VariableSpec& variable, int64_t begin,
                        absl::Span<double> out) {
  FillAny(variable, begin, out);
}

}  // namespace paceline
