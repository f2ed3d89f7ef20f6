// Which rows of which variable go to which shard.
#ifndef PACELINE_COMMON_SHARDING_PLACEMENT_H_
#define PACELINE_COMMON_SHARDING_PLACEMENT_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/variable.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Elements [begin, begin + count) of a variable, whole rows of its axis 0.
struct PlacedRange {
  int shard = 0;
  int64_t begin = 0;
  int64_t count = 0;
};

// Whether a variable may be cut into ranges of rows.
using MayCut = std::function<bool(const VariableSpec& variable)>;

inline bool MayCutAll(const VariableSpec& /*variable*/) { return true; }

// Of each variable its ranges: at least one, in order, none empty, together the
// whole variable, and by ascending shard.
using Placement = std::vector<std::vector<PlacedRange>>;

// By default, shards hold equal bytes as far as rows allow. Variables larger
// than a fair share are laid end to end and cut at every multiple of the share;
// the others, and those that may not be cut, stay whole and go, largest first,
// to the emptiest shard.
//
// TensorFlow's partitioners say into how many nearly equal ranges a variable is
// cut. Ranges of one variable go in runs to the emptiest shards.
//
// Deterministic. InvalidArgument names the key of the partitioner that is
// wrong, a variable without elements, or one that the partitioner cuts though
// it may not be cut.
absl::StatusOr<Placement> PlaceVariables(
    absl::Span<const VariableSpec> variables, int shard_count,
    const v1::Partitioner& partitioner, int bytes_per_element,
    const MayCut& may_cut);

// Cuts the ranges of a placement of `variables` into such of at most
// `max_count` elements, or of one row; those that may not be cut stay.
// InvalidArgument if there would be more than limits::kMaxParts.
absl::Status CutRanges(absl::Span<const VariableSpec> variables,
                       int64_t max_count, const MayCut& may_cut,
                       Placement& placement);

}  // namespace paceline

#endif  // PACELINE_COMMON_SHARDING_PLACEMENT_H_
