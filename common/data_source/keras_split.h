// Splits a data set as Keras' dataset utilities do.
#ifndef PACELINE_COMMON_DATA_SOURCE_KERAS_SPLIT_H_
#define PACELINE_COMMON_DATA_SOURCE_KERAS_SPLIT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "common/config/codec.h"

namespace paceline {

enum class Subset { kTraining, kValidation };

absl::Span<const EnumName<Subset>> EnumNames(Subset);

struct KerasSplit {
  // The share of the examples that are for validation, in (0, 1).
  double validation_split = 0;
  Subset subset = Subset::kTraining;
  // Shuffles all examples before they are split.
  std::optional<uint32_t> seed;
};

// The numbers of the subset's examples, in Keras' order, of `count` < 2^32: the
// last ones are for validation. They are shuffled as
// numpy.random.RandomState(seed).shuffle does it. May be empty.
std::vector<uint32_t> ExamplesOf(const KerasSplit& split, int64_t count);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_KERAS_SPLIT_H_
