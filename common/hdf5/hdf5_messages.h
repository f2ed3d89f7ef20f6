// The messages of an object header in an HDF5 file, which say what the object
// is.
#ifndef PACELINE_COMMON_HDF5_HDF5_MESSAGES_H_
#define PACELINE_COMMON_HDF5_HDF5_MESSAGES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/hdf5/hdf5_format.h"
#include "common/tensor/shape.h"

namespace paceline::hdf5 {

using Bytes = std::vector<std::byte>;

// Takes little-endian numbers from the front of a block.
class Fields {
 public:
  explicit Fields(absl::Span<const std::byte> bytes) : rest_(bytes) {}

  // 0 past the end, which sets is_cut.
  uint64_t Take(size_t count) {
    if (count > rest_.size()) {
      is_cut_ = true;
      rest_ = {};
      return 0;
    }
    uint64_t number = 0;
    for (size_t i = count; i-- > 0;) {
      number = number << 8 | std::to_integer<uint64_t>(rest_[i]);
    }
    rest_.remove_prefix(count);
    return number;
  }
  void Skip(size_t count) {
    is_cut_ |= count > rest_.size();
    rest_.remove_prefix(std::min(count, rest_.size()));
  }
  absl::Span<const std::byte> TakeBytes(size_t count) {
    const absl::Span<const std::byte> bytes = rest_.subspan(0, count);
    Skip(count);
    return bytes;
  }

  absl::Span<const std::byte> rest() const { return rest_; }
  bool is_cut() const { return is_cut_; }

 private:
  absl::Span<const std::byte> rest_;
  bool is_cut_ = false;
};

// DataLoss: "damaged: ...".
absl::Status Damaged(absl::string_view what);
// Unimplemented, for a part of the format that is not read.
absl::Status NotRead(absl::string_view what);

struct Message {
  uint16_t type = 0;
  Bytes data;
};

// Whether the reader needs messages of this type.
bool IsLookedAt(uint16_t type);

// The first message of the type; null if there is none.
const Message* FindMessage(absl::Span<const Message> messages, uint16_t type);

// Refuses what other readers would follow or decode.
absl::Status CheckMessages(absl::Span<const Message> messages);

// The messages of a dataset. Errors say what is wrong or not read.
Hdf5Type ParseType(Fields fields);
absl::StatusOr<Shape> ParseShape(Fields fields);

// Where the elements of a contiguous dataset are.
struct Extent {
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;
};

absl::StatusOr<Extent> ParseLayout(Fields fields);

}  // namespace paceline::hdf5

#endif  // PACELINE_COMMON_HDF5_HDF5_MESSAGES_H_
