#include "common/data_source/keras_split.h"

#include <bit>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "glog/logging.h"

namespace paceline {
namespace {

void ShuffleAsNumpy(uint32_t seed, std::vector<uint32_t>& values) {
  std::mt19937 generator(seed);
  for (auto i = static_cast<uint32_t>(values.size()); i-- > 1;) {
    const uint32_t mask =
        std::numeric_limits<uint32_t>::max() >> std::countl_zero(i);
    uint32_t other = 0;
    do {
      other = static_cast<uint32_t>(generator()) & mask;
    } while (other > i);
    std::swap(values[i], values[other]);
  }
}

}  // namespace

absl::Span<const EnumName<Subset>> EnumNames(Subset) {
  static constexpr EnumName<Subset> kNames[] = {
      {Subset::kTraining, "training"},
      {Subset::kValidation, "validation"},
  };
  return kNames;
}

std::vector<uint32_t> ExamplesOf(const KerasSplit& split, int64_t count) {
  CHECK(count >= 0 && count <= std::numeric_limits<uint32_t>::max());
  std::vector<uint32_t> examples(count);
  std::iota(examples.begin(), examples.end(), 0);
  if (split.seed) ShuffleAsNumpy(*split.seed, examples);
  const int64_t training =
      count -
      static_cast<int64_t>(split.validation_split * static_cast<double>(count));
  if (split.subset == Subset::kTraining) {
    examples.resize(training);
  } else {
    examples.erase(examples.begin(), examples.begin() + training);
  }
  return examples;
}

}  // namespace paceline
