#include "common/data_source/stored_array.h"

#include <sys/sysinfo.h>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"
#include "common/limits.h"

namespace paceline {
namespace {

std::string Describe(ElementType type, const Shape& shape) {
  return absl::StrCat("shape ", ShapeToString(shape), " of ",
                      ElementTypeName(type));
}

// InvalidArgument if this machine cannot hold so many bytes. The system would
// hand the memory out all the same, and end a process once it is used.
absl::Status CheckMachine(const std::string& name, ElementType type,
                          const Shape& shape, int64_t size_bytes) {
  // Unlike /proc/meminfo, it can be asked behind a fence around files.
  struct sysinfo machine = {};
  if (sysinfo(&machine) != 0) return absl::OkStatus();
  const auto memory = static_cast<int64_t>(machine.totalram) * machine.mem_unit;
  if (size_bytes <= memory) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: %s takes %d bytes, expected at most the %d of this "
                      "machine's memory",
                      name, Describe(type, shape), size_bytes, memory));
}

}  // namespace

absl::Status CheckStoredRank(const std::string& name, int64_t rank) {
  if (rank >= 1 && rank <= limits::kMaxRank) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: the number of dimensions is %d, expected 1 to %d",
                      name, rank, limits::kMaxRank));
}

absl::Status CheckStoredShape(const std::string& name, const Shape& shape) {
  RETURN_IF_ERROR(CheckStoredRank(name, static_cast<int64_t>(shape.size())));
  int64_t elements = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 1) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: dimension %d is %d, expected at least 1", name, i, shape[i]));
    }
    if (shape[i] > limits::kMaxElements / elements) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: dimension %d is %d, which makes more than the limit of %d "
          "elements",
          name, i, shape[i], limits::kMaxElements));
    }
    elements *= shape[i];
  }
  return absl::OkStatus();
}

absl::Status Truncated(const std::string& name, absl::string_view field,
                       int64_t got, int64_t expected) {
  return absl::DataLossError(absl::StrFormat(
      "%s: truncated: %d of %d bytes of the %s", name, got, expected, field));
}

absl::StatusOr<int64_t> StoredBytes(const std::string& name, ElementType type,
                                    const Shape& shape,
                                    int64_t capacity_bytes) {
  const int64_t count = NumElements(shape);
  const auto element_size = static_cast<int64_t>(SizeOf(type));
  if (count > limits::kMaxDataFileBytes / element_size) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: %s is larger than the limit of %d bytes", name,
                        Describe(type, shape), limits::kMaxDataFileBytes));
  }
  const int64_t size_bytes = count * element_size;
  if (size_bytes <= capacity_bytes) return size_bytes;
  return absl::DataLossError(absl::StrFormat(
      "%s: truncated: %s takes %d bytes, and the file is too small to hold "
      "them",
      name, Describe(type, shape), size_bytes));
}

absl::Status BytesAfter(const std::string& name, ElementType type,
                        const Shape& shape) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: there are bytes after the %d that %s takes", name,
                      NumElements(shape) * static_cast<int64_t>(SizeOf(type)),
                      Describe(type, shape)));
}

absl::Status CheckEnd(const std::string& name, ElementType type,
                      const Shape& shape, const ReadBytes& read) {
  char extra = 0;
  ASSIGN_OR_RETURN(const int64_t trailing, read(&extra, 1));
  return trailing == 0 ? absl::OkStatus() : BytesAfter(name, type, shape);
}

absl::StatusOr<StoredArray> ReadStoredArray(const std::string& name,
                                            ElementType type, Shape shape,
                                            const StoredValues& values) {
  ASSIGN_OR_RETURN(const int64_t size_bytes,
                   StoredBytes(name, type, shape, values.capacity_bytes));
  RETURN_IF_ERROR(CheckMachine(name, type, shape, size_bytes));
  std::unique_ptr<std::byte[]> data(new (std::nothrow) std::byte[size_bytes]);
  if (data == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("%s: %s takes %d bytes; there is not enough memory",
                        name, Describe(type, shape), size_bytes));
  }
  ASSIGN_OR_RETURN(const int64_t got, values.read(data.get(), size_bytes));
  if (got < size_bytes) return Truncated(name, "values", got, size_bytes);
  RETURN_IF_ERROR(CheckEnd(name, type, shape, values.read));
  return StoredArray{type, std::move(shape), std::move(data)};
}

}  // namespace paceline
