// The initial values of variables by the job's seed, asked for part by part.
#ifndef PACELINE_COMMON_MODEL_SEEDED_VALUES_H_
#define PACELINE_COMMON_MODEL_SEEDED_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "common/model/variable.h"

namespace paceline {

// Keeps the values of the last variable whose initializer computes all of them
// for any part (Initializer::computes_whole), 8 bytes an element, so that such
// a variable is computed once if its parts come one after another. Not
// thread-safe.
class SeededValues {
 public:
  explicit SeededValues(uint64_t seed) : seed_(seed) {}

  // Writes elements [begin, begin + out.size()) of the variable, in C order.
  // Variables are told apart by their names.
  void Fill(const VariableSpec& variable, int64_t begin, absl::Span<float> out);
  void Fill(const VariableSpec& variable, int64_t begin,
            absl::Span<double> out);

 private:
  template <typename T>
  void FillAny(const VariableSpec& variable, int64_t begin, absl::Span<T> out);

  const uint64_t seed_;
  // The variable of `whole_`; "": none.
  std::string name_;
  std::vector<double> whole_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_SEEDED_VALUES_H_
