// safetensors files, as described in common/checkpoint/FORMAT.md.
#ifndef PACELINE_COMMON_SAFETENSORS_SAFETENSORS_H_
#define PACELINE_COMMON_SAFETENSORS_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/atomic_file.h"
#include "common/tensor/shape.h"

namespace paceline {

using SafetensorsMetadata = std::map<std::string, std::string>;

// The format's name for an element type: "F32".
absl::string_view SafetensorsDtype(DataType type);

// --- Writing -----------------------------------------------------------------

// A tensor in memory that the caller owns, or that is read as it is written.
struct NamedTensor {
  std::string name;
  DataType type = DataType::kFloat32;
  Shape shape;
  // Elements in C order; the size must match type and shape.
  absl::Span<const std::byte> bytes;
  // If set, instead of `bytes`: gives the bytes from `offset_bytes` on, as many
  // as `out` has. Called in their order.
  std::function<absl::Status(int64_t offset_bytes, absl::Span<std::byte> out)>
      read = nullptr;
};

struct WrittenFile {
  int64_t size_bytes = 0;
  // zlib's CRC-32 of the whole file.
  uint32_t crc32 = 0;
};

// Writes the content of `file`, which must be empty, and commits it. Names must
// be unique, and all tensors of one type. ResourceExhausted if the header would
// be too large for readers; else errors are those of `read`, or of the disk, on
// which it blocks.
absl::StatusOr<WrittenFile> WriteSafetensors(
    AtomicFile& file, const SafetensorsMetadata& metadata,
    std::vector<NamedTensor> tensors);

// --- Reading -----------------------------------------------------------------

// A tensor's entry in the header of a file.
struct TensorEntry {
  // The format's name, such as "F32".
  std::string dtype;
  Shape shape;
  // Offset of its elements from the start of the data.
  int64_t begin_bytes = 0;
  int64_t end_bytes = 0;
};

struct SafetensorsHeader {
  SafetensorsMetadata metadata;
  std::map<std::string, TensorEntry> tensors;
};

// Parses the JSON of a header of a file with `data_size_bytes` of data.
// DataLoss says what is wrong: invalid JSON, repeated keys, metadata that are
// not strings, sizes that do not match shapes, gaps, overlaps, or trailing
// bytes. Unimplemented for dtypes and ranks that others may know.
absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(
    absl::string_view json, int64_t data_size_bytes);

// An open file with a valid header. Thread-safe. Errors name the path.
class SafetensorsFile {
 public:
  // NotFound; FailedPrecondition unless it is a regular file; DataLoss if the
  // header is invalid, truncated, or larger than limits.h allows; Unimplemented
  // as of ParseSafetensorsHeader.
  static absl::StatusOr<std::unique_ptr<SafetensorsFile>> Open(
      const std::string& path);
  ~SafetensorsFile();
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  const SafetensorsHeader& header() const { return header_; }
  int64_t size_bytes() const { return size_bytes_; }

  // zlib's CRC-32 of the whole file, which is read for that.
  absl::StatusOr<uint32_t> ComputeCrc32() const;

  // Reads the data from `begin_bytes` on into `out`. The range must be within
  // the data.
  absl::Status Read(int64_t begin_bytes, absl::Span<std::byte> out) const;

 private:
  SafetensorsFile(std::string path, int descriptor);
  absl::Status ReadHeader();
  absl::Status ReadAt(int64_t offset_bytes, absl::Span<std::byte> out) const;
  absl::Status Damaged(absl::string_view reason) const;

  const std::string path_;
  const int descriptor_;
  int64_t size_bytes_ = 0;
  int64_t data_offset_bytes_ = 0;
  SafetensorsHeader header_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SAFETENSORS_SAFETENSORS_H_
