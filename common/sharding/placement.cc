#include "common/sharding/placement.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "common/tensor/shape.h"

namespace paceline {
namespace {

// The default min_shard_bytes of TensorFlow's MinSizePartitioner.
constexpr int64_t kDefaultMinPartBytes = 256 << 10;

// A variable as a stack of rows along axis 0.
struct Rows {
  int64_t count = 1;
  // Elements per row.
  int64_t size = 1;
  bool may_cut = true;
  int64_t elements() const { return count * size; }
};

// `shape` must have at least one element.
Rows RowsOf(const Shape& shape) {
  const int64_t rows = shape.empty() ? 1 : shape[0];
  return {.count = rows, .size = NumElements(shape) / rows};
}

absl::StatusOr<std::vector<Rows>> RowsOf(
    absl::Span<const VariableSpec> variables, const MayCut& may_cut) {
  std::vector<Rows> result;
  for (const VariableSpec& variable : variables) {
    if (NumElements(variable.shape) < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("variable ", variable.name, " of shape ",
                       ShapeToString(variable.shape), " has no elements"));
    }
    result.push_back(RowsOf(variable.shape));
    result.back().may_cut = may_cut(variable);
  }
  return result;
}

absl::Status CheckPartCount(int64_t count) {
  if (count <= limits::kMaxParts) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("partitioner cuts the variables into at least ", count,
                   " parts; at most ", limits::kMaxParts, " are possible"));
}

// Indices of `rows` by descending size; equal sizes keep their order.
std::vector<int> LargestFirst(absl::Span<const Rows> rows) {
  std::vector<int> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return rows[a].elements() > rows[b].elements();
  });
  return order;
}

// The `count` shards with the least load, by ascending index.
std::vector<int> EmptiestShards(absl::Span<const int64_t> loads,
                                int64_t count) {
  std::vector<int> shards(loads.size());
  std::iota(shards.begin(), shards.end(), 0);
  std::stable_sort(shards.begin(), shards.end(),
                   [&](int a, int b) { return loads[a] < loads[b]; });
  shards.resize(count);
  std::sort(shards.begin(), shards.end());
  return shards;
}

void PlaceWhole(const Rows& rows, std::vector<int64_t>& loads,
                std::vector<PlacedRange>& ranges) {
  const auto emptiest = std::min_element(loads.begin(), loads.end());
  *emptiest += rows.elements();
  ranges.push_back(
      {static_cast<int>(emptiest - loads.begin()), 0, rows.elements()});
}

// Fills the shards with `amount` more elements so that their loads become as
// equal as possible. Returns by shard how many elements it and the shards
// before it get.
std::vector<int64_t> FillEvenly(const std::vector<int64_t>& loads,
                                int64_t amount) {
  // The emptiest shards are filled up to a common level, which is below the
  // load of all others: level * filled = amount + loads of the filled.
  std::vector<int64_t> sorted = loads;
  std::sort(sorted.begin(), sorted.end());
  int64_t filled = 0;
  int64_t sum = amount;
  for (const int64_t load : sorted) {
    if (filled > 0 && load * filled >= sum) break;
    ++filled;
    sum += load;
  }
  std::vector<int64_t> ends;
  int64_t count = 0;
  int64_t before = 0;
  for (const int64_t load : loads) {
    if (load * filled < sum) {
      ++count;
      before += load;
    }
    ends.push_back(
        static_cast<int64_t>(static_cast<__int128>(sum) * count / filled) -
        before);
  }
  return ends;
}

// Lays the variables of `order` end to end on a line, and gives shard s the
// part of the line from ends[s - 1] to ends[s], rounded to whole rows; the last
// shard gets the rest.
void PlaceOnLine(absl::Span<const Rows> variables, absl::Span<const int> order,
                 absl::Span<const int64_t> ends, std::vector<int64_t>& loads,
                 Placement& placement) {
  int64_t start = 0;
  size_t shard = 0;
  for (const int v : order) {
    const Rows& rows = variables[v];
    int64_t row = 0;
    while (row < rows.count) {
      int64_t end = rows.count;
      if (shard + 1 < ends.size()) {
        const int64_t room = ends[shard] - start;
        end = std::clamp((room + rows.size / 2) / rows.size, row, rows.count);
      }
      if (end > row) {
        const int64_t count = (end - row) * rows.size;
        placement[v].push_back(
            {static_cast<int>(shard), row * rows.size, count});
        loads[shard] += count;
        row = end;
      }
      if (row < rows.count) ++shard;
    }
    start += rows.elements();
  }
}

Placement PlaceByBalance(absl::Span<const Rows> variables, int shard_count) {
  int64_t total = 0;
  for (const Rows& rows : variables) total += rows.elements();
  std::vector<int> large_and_whole, large, small;
  for (const int v : LargestFirst(variables)) {
    const Rows& rows = variables[v];
    const bool is_large = rows.elements() > total / shard_count;
    (!is_large ? small : rows.may_cut ? large : large_and_whole).push_back(v);
  }

  Placement placement(variables.size());
  std::vector<int64_t> loads(shard_count, 0);
  int64_t left = total;
  for (const int v : large_and_whole) {
    PlaceWhole(variables[v], loads, placement[v]);
    left -= variables[v].elements();
  }
  // Make room for the small variables, too; so the line may end before the last
  // shards, which then get more of those.
  PlaceOnLine(variables, large, FillEvenly(loads, left), loads, placement);
  for (const int v : small) PlaceWhole(variables[v], loads, placement[v]);
  return placement;
}

// How many ranges a partitioner cuts a variable into.
absl::StatusOr<int64_t> RangeCount(const Rows& rows,
                                   const v1::Partitioner& partitioner,
                                   int bytes_per_element) {
  const int64_t row_bytes = rows.size * bytes_per_element;
  const int64_t bytes =
      static_cast<int64_t>(std::min<uint64_t>(partitioner.bytes(), INT64_MAX));
  switch (partitioner.kind()) {
    case v1::Partitioner::KIND_MIN_SIZE: {
      const int64_t least = bytes == 0 ? kDefaultMinPartBytes : bytes;
      const int64_t rows_needed =
          least / row_bytes + (least % row_bytes == 0 ? 0 : 1);
      return std::max<int64_t>(1, rows.count / rows_needed);
    }
    case v1::Partitioner::KIND_MAX_SIZE: {
      if (bytes == 0) {
        return absl::InvalidArgumentError(
            "partitioner.bytes is 0; the max_size partitioner needs the bytes "
            "of a part");
      }
      const int64_t rows_fitting = std::max<int64_t>(1, bytes / row_bytes);
      return (rows.count - 1) / rows_fitting + 1;
    }
    case v1::Partitioner::KIND_FIXED:
      if (partitioner.parts() == 0) {
        return absl::InvalidArgumentError(
            "partitioner.parts is 0; the fixed partitioner needs at least 1");
      }
      return std::min<int64_t>(rows.count, partitioner.parts());
    default:
      return absl::InvalidArgumentError(absl::StrCat(
          "partitioner.kind ", partitioner.kind(), " is not known"));
  }
}

// Cuts a variable into `count` ranges whose row counts differ by at most one,
// the longer ranges first, as TensorFlow does.
void PlaceRanges(const Rows& rows, int64_t count, std::vector<int64_t>& loads,
                 std::vector<PlacedRange>& ranges) {
  const int64_t shard_count = static_cast<int64_t>(loads.size());
  const int64_t runs = std::min(count, shard_count);
  const std::vector<int> shards = EmptiestShards(loads, runs);
  int64_t begin = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row_count =
        rows.count / count + (i < rows.count % count ? 1 : 0);
    const int shard = shards[i * runs / count];
    ranges.push_back({shard, begin, row_count * rows.size});
    loads[shard] += row_count * rows.size;
    begin += row_count * rows.size;
  }
}

}  // namespace

absl::StatusOr<Placement> PlaceVariables(
    absl::Span<const VariableSpec> variables, int shard_count,
    const v1::Partitioner& partitioner, int bytes_per_element,
    const MayCut& may_cut) {
  ASSIGN_OR_RETURN(const std::vector<Rows> rows, RowsOf(variables, may_cut));
  if (partitioner.kind() == v1::Partitioner::KIND_UNSPECIFIED) {
    return PlaceByBalance(rows, shard_count);
  }
  Placement placement(variables.size());
  std::vector<int64_t> loads(shard_count, 0);
  int64_t part_count = 0;
  for (int v : LargestFirst(rows)) {
    ASSIGN_OR_RETURN(const int64_t count,
                     RangeCount(rows[v], partitioner, bytes_per_element));
    if (count > limits::kMaxPartsPerVariable) {
      return absl::InvalidArgumentError(absl::StrCat(
          "partitioner cuts variable ", variables[v].name, " into ", count,
          " parts; at most ", limits::kMaxPartsPerVariable, " are possible"));
    }
    if (count > 1 && !rows[v].may_cut) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the partitioner cuts variable ", variables[v].name, " into ", count,
          " parts, but the optimizer, or its constraint, updates it as a "
          "whole; expected no "
          "partitioner, or one that leaves it whole"));
    }
    part_count += count;
    RETURN_IF_ERROR(CheckPartCount(part_count));
    PlaceRanges(rows[v], count, loads, placement[v]);
  }
  return placement;
}

absl::Status CutRanges(absl::Span<const VariableSpec> variables,
                       int64_t max_count, const MayCut& may_cut,
                       Placement& placement) {
  // Elements per part.
  const auto step_of = [max_count](const VariableSpec& variable) {
    const int64_t row_size = RowsOf(variable.shape).size;
    return std::max<int64_t>(1, max_count / row_size) * row_size;
  };
  int64_t part_count = 0;
  for (size_t v = 0; v < placement.size(); ++v) {
    if (!may_cut(variables[v])) continue;
    const int64_t step = step_of(variables[v]);
    for (const PlacedRange& range : placement[v]) {
      part_count += (range.count - 1) / step + 1;
    }
    RETURN_IF_ERROR(CheckPartCount(part_count));
  }
  for (size_t v = 0; v < placement.size(); ++v) {
    if (!may_cut(variables[v])) continue;
    const int64_t step = step_of(variables[v]);
    std::vector<PlacedRange> cut;
    for (const PlacedRange& range : placement[v]) {
      const int64_t end = range.begin + range.count;
      for (int64_t begin = range.begin; begin < end; begin += step) {
        cut.push_back({range.shard, begin, std::min(step, end - begin)});
      }
    }
    placement[v] = std::move(cut);
  }
  return absl::OkStatus();
}

}  // namespace paceline
