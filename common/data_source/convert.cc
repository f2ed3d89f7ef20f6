#include "common/data_source/convert.h"

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace paceline {
namespace {

// Calls `function` with a typed pointer to the values.
template <typename Function>
auto WithTyped(Elements in, Function function) {
  switch (in.type) {
    case ElementType::kInt8:
      return function(reinterpret_cast<const int8_t*>(in.data));
    case ElementType::kInt16:
      return function(reinterpret_cast<const int16_t*>(in.data));
    case ElementType::kInt32:
      return function(reinterpret_cast<const int32_t*>(in.data));
    case ElementType::kInt64:
      return function(reinterpret_cast<const int64_t*>(in.data));
    case ElementType::kFloat32:
      return function(reinterpret_cast<const float*>(in.data));
    case ElementType::kFloat64:
      return function(reinterpret_cast<const double*>(in.data));
    case ElementType::kUint8:
      break;
  }
  return function(reinterpret_cast<const uint8_t*>(in.data));
}

template <typename From>
bool IsClassId(From value, const ClassIds& ids) {
  if constexpr (std::is_floating_point_v<From>) {
    // Outside of these, not every number fits int64.
    constexpr auto kLimit =
        static_cast<From>(std::numeric_limits<int32_t>::max());
    return value >= -kLimit && value <= kLimit && std::trunc(value) == value &&
           ids.contains(static_cast<int64_t>(value));
  } else {
    return ids.contains(static_cast<int64_t>(value));
  }
}

template <typename From>
absl::Status NoClassId(absl::string_view name, From value,
                       const ClassIds& ids) {
  std::string expected =
      absl::StrCat("expected a class id from 0 to ", ids.count - 1);
  if (ids.ignored) {
    absl::StrAppend(&expected, ", or ", *ids.ignored, ", which is ignored");
  }
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", value, ", ", expected));
}

}  // namespace

template <typename T>
void ConvertScaled(Elements in, T scale, T* out) {
  const int64_t count = in.count;
  WithTyped(in, [count, scale, out](const auto* values) {
    for (int64_t i = 0; i < count; ++i) {
      out[i] = static_cast<T>(values[i]) * scale;
    }
  });
}

template void ConvertScaled<float>(Elements, float, float*);
template void ConvertScaled<double>(Elements, double, double*);

absl::Status ConvertToClassIds(Elements in, const ClassIds& ids, int32_t* out) {
  return WithTyped(in, [&](const auto* values) -> absl::Status {
    for (int64_t i = 0; i < in.count; ++i) {
      if (!IsClassId(values[i], ids)) {
        return NoClassId("label", values[i], ids);
      }
      out[i] = static_cast<int32_t>(values[i]);
    }
    return absl::OkStatus();
  });
}

absl::Status CheckClassIds(Elements in, const ClassIds& ids, int64_t first) {
  return WithTyped(in, [&](const auto* values) -> absl::Status {
    for (int64_t i = 0; i < in.count; ++i) {
      if (!IsClassId(values[i], ids)) {
        return NoClassId(absl::StrCat("label ", first + i), values[i], ids);
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace paceline
