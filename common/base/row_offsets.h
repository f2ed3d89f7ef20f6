// Where the rows of a file begin, in bounded memory.
#ifndef PACELINE_COMMON_BASE_ROW_OFFSETS_H_
#define PACELINE_COMMON_BASE_ROW_OFFSETS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace paceline {

// Has the offset of each row, or, once there are more rows than fit, of each
// second, fourth, eighth row and so on.
class RowOffsets {
 public:
  struct Place {
    int64_t row = 0;
    int64_t offset = 0;
  };

  // Keeps at most `limit` offsets of 8 bytes; positive and even.
  explicit RowOffsets(size_t limit);

  // Adds the next row.
  void Add(int64_t offset);

  int64_t row_count() const { return row_count_; }

  // The last row whose offset is known, at or before `row`, which must exist.
  Place AtOrBefore(int64_t row) const;

 private:
  size_t limit_;
  int64_t row_count_ = 0;
  // offsets_[i] is that of row i << shift_.
  int shift_ = 0;
  std::vector<int64_t> offsets_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_ROW_OFFSETS_H_
