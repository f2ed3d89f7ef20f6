#include <zlib.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "common/safetensors/safetensors.h"
#include "glog/logging.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

// The data starts at a multiple of this.
constexpr size_t kAlignmentBytes = 8;
// Read at a time.
constexpr size_t kBufferBytes = 1 << 20;

size_t BytesOf(const NamedTensor& tensor) {
  return NumElements(tensor.shape) * SizeOf(tensor.type);
}

std::string MakeHeader(const SafetensorsMetadata& metadata,
                       const std::vector<NamedTensor>& tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t offset = 0;
  for (const NamedTensor& tensor : tensors) {
    const uint64_t end = offset + BytesOf(tensor);
    header[tensor.name] = {{"dtype", SafetensorsDtype(tensor.type).data()},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, end}}};
    offset = end;
  }
  CHECK_EQ(header.size(), tensors.size() + (metadata.empty() ? 0 : 1))
      << "names of tensors repeat";
  std::string json = header.dump();
  json.resize(
      (json.size() + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes,
      ' ');
  return json;
}

std::string LittleEndian(uint64_t value) {
  std::string bytes(8, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(value & 0xff);
    value >>= 8;
  }
  return bytes;
}

// Appends to a file, and keeps its size and CRC-32.
class CountingWriter {
 public:
  explicit CountingWriter(AtomicFile& file) : file_(file) {}

  absl::Status Append(absl::string_view content) {
    written_.size_bytes += static_cast<int64_t>(content.size());
    written_.crc32 = static_cast<uint32_t>(
        crc32_z(written_.crc32, reinterpret_cast<const Bytef*>(content.data()),
                content.size()));
    return file_.Append(content);
  }

  absl::Status Append(const NamedTensor& tensor) {
    const size_t size = BytesOf(tensor);
    if (tensor.read == nullptr) {
      CHECK_EQ(tensor.bytes.size(), size) << tensor.name;
      return Append({reinterpret_cast<const char*>(tensor.bytes.data()), size});
    }
    for (size_t offset = 0; offset < size; offset += buffer_.size()) {
      buffer_.resize(std::min(kBufferBytes, size - offset));
      RETURN_IF_ERROR(tensor.read(
          static_cast<int64_t>(offset),
          absl::MakeSpan(reinterpret_cast<std::byte*>(buffer_.data()),
                         buffer_.size())));
      RETURN_IF_ERROR(Append(absl::string_view(buffer_)));
    }
    return absl::OkStatus();
  }

  const WrittenFile& written() const { return written_; }

 private:
  AtomicFile& file_;
  std::string buffer_;
  WrittenFile written_;
};

}  // namespace

absl::StatusOr<WrittenFile> WriteSafetensors(
    AtomicFile& file, const SafetensorsMetadata& metadata,
    std::vector<NamedTensor> tensors) {
  std::sort(tensors.begin(), tensors.end(),
            [](const NamedTensor& a, const NamedTensor& b) {
              return a.name < b.name;
            });
  const std::string header = MakeHeader(metadata, tensors);
  if (header.size() > size_t{limits::kMaxHeaderBytes}) {
    return absl::ResourceExhaustedError(
        absl::StrCat(file.path(), " would have a header of ", header.size(),
                     " bytes; readers take at most ", limits::kMaxHeaderBytes));
  }
  CountingWriter writer(file);
  RETURN_IF_ERROR(writer.Append(LittleEndian(header.size())));
  RETURN_IF_ERROR(writer.Append(header));
  for (const NamedTensor& tensor : tensors) {
    RETURN_IF_ERROR(writer.Append(tensor));
  }
  RETURN_IF_ERROR(file.Commit());
  return writer.written();
}

}  // namespace paceline
