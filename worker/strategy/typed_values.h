// Typed views of bytes.
#ifndef PACELINE_WORKER_STRATEGY_TYPED_VALUES_H_
#define PACELINE_WORKER_STRATEGY_TYPED_VALUES_H_

#include <cstddef>

#include "absl/types/span.h"

namespace paceline {

// `bytes` must be aligned for T and have the size of a whole number of Ts.
template <typename T>
absl::Span<T> As(absl::Span<std::byte> bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_TYPED_VALUES_H_
