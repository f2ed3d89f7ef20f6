// Values in memory that is known by its bytes.
#ifndef PACELINE_WORKER_STRATEGY_TYPED_VALUES_H_
#define PACELINE_WORKER_STRATEGY_TYPED_VALUES_H_

#include <cstddef>

#include "absl/types/span.h"

namespace paceline {

// `bytes` is aligned for T and holds a whole number of them.
template <typename T>
absl::Span<T> As(absl::Span<std::byte> bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_TYPED_VALUES_H_
