// Assigns the rows of each variable to shards.
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

// Elements [begin, begin + count) of a variable: whole rows along axis 0.
struct PlacedRange {
  int shard = 0;
  int64_t begin = 0;
  int64_t count = 0;
};

// Whether a variable may be cut into ranges of rows.
using MayCut = std::function<bool(const VariableSpec& variable)>;

inline bool MayCutAll(const VariableSpec& /*variable*/) { return true; }

// The ranges of each variable: at least one, in order, not empty, covering the
// whole variable, and on ascending shards.
using Placement = std::vector<std::vector<PlacedRange>>;

// By default, shards get equal bytes as far as whole rows and whole variables
// allow. First, variables that are larger than a fair share but may not be cut
// are placed, each on the shard with the least load. Then the others that are
// larger than a fair share are laid end to end and cut where a shard has its
// part of what is left. Small variables stay whole; the largest is placed
// first, each on the shard with the least load.
//
// With one of TensorFlow's partitioners, a variable is cut into as many nearly
// equal ranges as the partitioner says. Consecutive ranges of one variable go
// to the shards with the least load.
//
// Deterministic. InvalidArgument names the wrong key of the partitioner, a
// variable without elements, or a variable that the partitioner cuts though it
// may not be cut.
absl::StatusOr<Placement> PlaceVariables(
    absl::Span<const VariableSpec> variables, int shard_count,
    const v1::Partitioner& partitioner, int bytes_per_element,
    const MayCut& may_cut);

// Cuts the ranges of a placement further, so that each has at most `max_count`
// elements or is a single row. Variables that may not be cut stay whole.
// InvalidArgument if there would be more than limits::kMaxParts.
absl::Status CutRanges(absl::Span<const VariableSpec> variables,
                       int64_t max_count, const MayCut& may_cut,
                       Placement& placement);

}  // namespace paceline

#endif  // PACELINE_COMMON_SHARDING_PLACEMENT_H_
