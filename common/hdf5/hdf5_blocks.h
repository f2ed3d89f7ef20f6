// Reads the blocks of a hostile HDF5 file, each once.
#ifndef PACELINE_COMMON_HDF5_HDF5_BLOCKS_H_
#define PACELINE_COMMON_HDF5_HDF5_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/random_access.h"
#include "common/hdf5/hdf5_messages.h"

namespace paceline::hdf5 {

bool BeginsWith(absl::Span<const std::byte> bytes, absl::string_view text);

// No block may begin where another does, and together they may be no larger
// than the file: so links cannot make circles, and the work is linear in the
// size of the file.
class BlockReader {
 public:
  explicit BlockReader(RandomAccess& file)
      : file_(file), size_(static_cast<uint64_t>(file.size_bytes())) {}

  // Of the file.
  uint64_t size_bytes() const { return size_; }

  // The block [address, address + size). `what` it is, for errors.
  absl::StatusOr<Bytes> ReadBlock(uint64_t address, uint64_t size,
                                  absl::string_view what);

  // The address of the root's object header.
  absl::StatusOr<uint64_t> ReadSuperblock();

  // The messages of the object header at `address` that IsLookedAt.
  absl::StatusOr<std::vector<Message>> ReadMessages(uint64_t address);

 private:
  RandomAccess& file_;
  const uint64_t size_;
  // Addresses of the blocks that have been read, and their bytes together.
  absl::flat_hash_set<uint64_t> read_;
  uint64_t read_bytes_ = 0;
};

}  // namespace paceline::hdf5

#endif  // PACELINE_COMMON_HDF5_HDF5_BLOCKS_H_
