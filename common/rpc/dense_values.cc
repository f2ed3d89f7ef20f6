#include "common/rpc/dense_values.h"

#include "absl/strings/str_cat.h"

namespace paceline {

absl::StatusOr<DensePlace*> PlaceOf(uint32_t index, size_t size,
                                    absl::Span<DensePlace> places) {
  if (index >= places.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "it has a block ", index, ", expected ", places.size(), " blocks"));
  }
  DensePlace& place = places[index];
  if (size != place.values.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("it has ", size, " bytes of block ", index, ", expected ",
                     place.values.size()));
  }
  return &place;
}

}  // namespace paceline
