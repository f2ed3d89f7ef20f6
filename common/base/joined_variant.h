// Concatenates the types of several std::variants.
#ifndef PACELINE_COMMON_BASE_JOINED_VARIANT_H_
#define PACELINE_COMMON_BASE_JOINED_VARIANT_H_

#include <variant>

namespace paceline {

template <typename... Variants>
struct JoinVariants;
template <typename... Ts>
struct JoinVariants<std::variant<Ts...>> {
  using Type = std::variant<Ts...>;
};
template <typename... Ts, typename... Us, typename... Others>
struct JoinVariants<std::variant<Ts...>, std::variant<Us...>, Others...>
    : JoinVariants<std::variant<Ts..., Us...>, Others...> {};

// The types of the first variant, then those of the second, and so on.
template <typename... Variants>
using JoinedVariant = typename JoinVariants<Variants...>::Type;

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_JOINED_VARIANT_H_
