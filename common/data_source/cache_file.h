// A file that keeps what is read of a source, for later passes, later runs and
// other processes of the machine.
//
//   magic     8 bytes   "PLCACHE\n"
//   version   uint32
//   checksum  uint32    CRC-32C of the header with 0 in this place
//   source    64 bytes  the fingerprint of the source, in hexadecimal digits
//   slots     uint64    one for each example
//   capacity  uint64    of a slot, in bytes
//
// and then the slots, in the order of the examples:
//
//   checksum  uint32    CRC-32C of the slot's number (uint64) and what follows
//   content   uint32    1: values, 2 or 3: an error; anything else: nothing
//   size      uint64    of what follows that counts
//   bytes               as many as the capacity
//
// in little-endian order. A slot counts only if its checksum is right, so a
// process may die in the middle of writing, and the file may end, or have
// holes, anywhere behind its header. Whoever writes a slot twice writes the
// same, so slots are not locked.
#ifndef PACELINE_COMMON_DATA_SOURCE_CACHE_FILE_H_
#define PACELINE_COMMON_DATA_SOURCE_CACHE_FILE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/file_descriptor.h"

namespace paceline {

// Has what it reads and what it is to write. Not thread-safe; a thread keeps
// one for all slots of a file.
class CacheSlot {
 public:
  // What a slot has. Errors are those of an example whose bytes are wrong.
  enum class Content : uint32_t {
    kNothing = 0,
    kValues = 1,
    kDataLoss = 2,
    kInvalidArgument = 3,
  };

  explicit CacheSlot(int64_t capacity_bytes);

  // All bytes of the slot, aligned to 16 bytes.
  absl::Span<std::byte> bytes();
  absl::Span<const std::byte> bytes() const;

 private:
  friend class CacheFile;
  struct alignas(16) Block {
    std::byte bytes[16];
  };

  const int64_t capacity_bytes_;
  // The first one is the slot's header.
  std::vector<Block> blocks_;
};

// Thread-safe.
class CacheFile {
 public:
  // Whose examples a file has.
  struct Owner {
    // 64 hexadecimal digits.
    std::string source;
    int64_t slots = 0;
    int64_t capacity_bytes = 0;
  };

  // Opens the file, or makes it. A relative path is looked up below the working
  // folder, and no link in it is followed, since a job of a service may name it
  // (InvalidArgument).
  //
  // InvalidArgument if the file is of another owner, or is no such file, and
  // then it stays as it is; ResourceExhausted above limits::kMaxDataFileBytes;
  // DeadlineExceeded if another process does not get done with making it; or
  // what the file system says. Messages name the path. Blocks on the disk.
  static absl::StatusOr<std::unique_ptr<CacheFile>> Open(
      const std::string& path, const Owner& owner);

  // Reads slot `index`. A slot that cannot be read has nothing. Blocks on the
  // disk.
  CacheSlot::Content Read(int64_t index, CacheSlot& slot) const;
  // The text of the error that was read last into `slot`.
  static absl::string_view ErrorText(const CacheSlot& slot);

  // Writes all bytes of the slot as values. Once it fails, because the disk is
  // full, say, it logs one warning, and nothing is written any more. Blocks on
  // the disk.
  void WriteValues(int64_t index, CacheSlot& slot) const;
  // The same for an error, kDataLoss or kInvalidArgument; a text that does not
  // fit is left out.
  void WriteError(int64_t index, CacheSlot::Content content,
                  absl::string_view text, CacheSlot& slot) const;

  const std::string& path() const { return path_; }

 private:
  CacheFile(std::string path, FileDescriptor file, const Owner& owner);

  absl::Status TakeOrCheckHeader() const;
  int64_t OffsetOf(int64_t index) const;
  void Write(int64_t index, CacheSlot::Content content, int64_t size,
             CacheSlot& slot) const;

  const std::string path_;
  const FileDescriptor file_;
  const Owner owner_;
  mutable std::atomic<bool> has_failed_ = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_CACHE_FILE_H_
