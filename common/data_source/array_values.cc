#include "common/data_source/array_values.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/data_source/stored_array.h"

namespace paceline {
namespace {

// The error of reading at `offset`, with that place.
absl::Status WithPlace(const absl::Status& status, int64_t offset) {
  return WithMessage(status,
                     absl::StrCat(status.message(), " (at byte ", offset, ")"));
}

}  // namespace

ElementType TypeOf(const ArrayValues& values) {
  return std::visit([](const auto& array) { return array.type; }, values);
}

const Shape& ShapeOf(const ArrayValues& values) {
  return std::visit(
      [](const auto& array) -> const Shape& { return array.shape; }, values);
}

absl::StatusOr<int64_t> FilePart::Read(void* out, int64_t size) {
  const int64_t count = std::min(size, end_ - position_);
  const absl::Status read =
      file_->ReadAt(position_, static_cast<char*>(out), count);
  if (!read.ok()) return WithPlace(read, position_);
  position_ += count;
  return count;
}

absl::StatusOr<ArrayValues> FilePart::Rest(const std::string& name,
                                           ElementType type, Shape shape,
                                           int64_t max_held_bytes) {
  const int64_t capacity = end_ - position_;
  ASSIGN_OR_RETURN(const int64_t size,
                   StoredBytes(name, type, shape, capacity));
  if (size < capacity) return BytesAfter(name, type, shape);
  if (size > max_held_bytes) {
    return ArrayInFile{type, std::move(shape), file_, position_};
  }
  return ReadStoredArray(name, type, std::move(shape),
                         {capacity, [this](void* out, int64_t bytes) {
                            return Read(out, bytes);
                          }});
}

absl::StatusOr<Elements> ReadElements(const ArrayValues& values, int64_t first,
                                      int64_t count, FileWindow& window) {
  const auto element_bytes = static_cast<int64_t>(SizeOf(TypeOf(values)));
  const int64_t begin = first * element_bytes;
  if (const auto* held = std::get_if<StoredArray>(&values)) {
    return Elements{held->type, held->data.get() + begin, count};
  }
  const auto& array = std::get<ArrayInFile>(values);
  const int64_t offset = array.offset_bytes + begin;
  const absl::StatusOr<absl::string_view> bytes =
      window.At(*array.file, offset, count * element_bytes);
  if (!bytes.ok()) return WithPlace(bytes.status(), offset);
  return Elements{array.type, reinterpret_cast<const std::byte*>(bytes->data()),
                  count};
}

}  // namespace paceline
