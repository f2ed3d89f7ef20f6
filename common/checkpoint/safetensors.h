// safetensors files, as FORMAT.md describes them.
#ifndef PACELINE_COMMON_CHECKPOINT_SAFETENSORS_H_
#define PACELINE_COMMON_CHECKPOINT_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>
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

// The format's name of an element type: "F32".
absl::string_view SafetensorsDtype(DataType type);

// --- Writing -----------------------------------------------------------------

// Elements in memory that somebody else owns.
struct NamedTensor {
  std::string name;
  DataType type = DataType::kFloat32;
  Shape shape;
  // The elements in C order; as many bytes as type and shape say.
  absl::Span<const std::byte> bytes;
};

struct WrittenFile {
  int64_t size_bytes = 0;
  // zlib's CRC-32 of the whole file.
  uint32_t crc32 = 0;
};

// Writes a file, which is empty, and commits it. Names are unique; all tensors
// are of one type. ResourceExhausted if readers would refuse the header. Blocks
// on the disk.
absl::StatusOr<WrittenFile> WriteSafetensors(
    AtomicFile& file, const SafetensorsMetadata& metadata,
    std::vector<NamedTensor> tensors);

// --- Reading -----------------------------------------------------------------

// A tensor as the header of a file has it.
struct TensorEntry {
  // The format's name, such as "F32".
  std::string dtype;
  Shape shape;
  // Where its elements are, from the start of the data.
  int64_t begin_bytes = 0;
  int64_t end_bytes = 0;
};

struct SafetensorsHeader {
  SafetensorsMetadata metadata;
  std::map<std::string, TensorEntry> tensors;
};

// Reads the JSON of a header whose data has `data_size_bytes`. DataLoss says
// what is wrong: no JSON, repeated keys, metadata that are no strings, unknown
// dtypes, sizes that do not fit shapes, gaps, overlaps, bytes left over.
absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(
    absl::string_view json, int64_t data_size_bytes);

// An open file with a sound header. Thread-safe. Errors name the path.
class SafetensorsFile {
 public:
  // NotFound, or DataLoss if the header is wrong, cut, or larger than limits.h
  // allows.
  static absl::StatusOr<std::unique_ptr<SafetensorsFile>> Open(
      const std::string& path);
  ~SafetensorsFile();
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  const SafetensorsHeader& header() const { return header_; }
  int64_t size_bytes() const { return size_bytes_; }

  // zlib's CRC-32 of the whole file. Reads all of it.
  absl::StatusOr<uint32_t> ComputeCrc32() const;

  // Fills `out` with the data from `begin_bytes` on; within the data.
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

#endif  // PACELINE_COMMON_CHECKPOINT_SAFETENSORS_H_
