// The base of initializers that compute each element independently.
#ifndef PACELINE_COMMON_MODEL_INITIALIZERS_ELEMENTWISE_H_
#define PACELINE_COMMON_MODEL_INITIALIZERS_ELEMENTWISE_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "common/model/initializer.h"

namespace paceline {

// Help text for field tables.
inline constexpr char kSeedHelp[] =
    "Instead of the job's seed and the variable's name: equal seeds give equal "
    "values.";

// `Derived` must have `Elements(key, shape)`, which returns a function from an
// element's index to its value in double.
template <typename Derived>
class ElementwiseInitializer : public Initializer {
 public:
  void Fill(RandomKey key, absl::Span<const int64_t> shape, int64_t begin,
            absl::Span<float> out) const override {
    FillAny(key, shape, begin, out);
  }
  void Fill(RandomKey key, absl::Span<const int64_t> shape, int64_t begin,
            absl::Span<double> out) const override {
    FillAny(key, shape, begin, out);
  }

 private:
  template <typename T>
  void FillAny(RandomKey key, absl::Span<const int64_t> shape, int64_t begin,
               absl::Span<T> out) const {
    const auto element =
        static_cast<const Derived*>(this)->Elements(key, shape);
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<T>(element(begin + static_cast<int64_t>(i)));
    }
  }
};

// The key of an initializer: if it has its own seed, then only that, as in
// Keras, so that variables with equal seeds get equal values.
inline RandomKey WithSeed(RandomKey key, std::optional<int64_t> seed) {
  if (!seed.has_value()) return key;
  return {.seed = static_cast<uint64_t>(*seed), .stream = 0};
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_INITIALIZERS_ELEMENTWISE_H_
