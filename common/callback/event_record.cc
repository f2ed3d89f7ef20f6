#include "common/callback/event_record.h"

#include <bit>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/crc32c.h"

namespace paceline {
namespace {

static_assert(std::endian::native == std::endian::little);

// The bytes of a number, little-endian.
template <typename T>
std::string BytesOf(T number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof(number));
}

std::string Masked(absl::string_view bytes) {
  const auto* const data = reinterpret_cast<const std::byte*>(bytes.data());
  return BytesOf(MaskCrc32c(ExtendCrc32c(0, {data, bytes.size()})));
}

// In the memory of `data`, which may be large, if it fits.
std::string Framed(std::string data) {
  const std::string size = BytesOf(uint64_t{data.size()});
  const std::string checksum = Masked(data);
  data.insert(0, absl::StrCat(size, Masked(size)));
  return data.append(checksum);
}

// --- Protobuf's encoding -----------------------------------------------------

enum WireType { kVarint = 0, kDouble = 1, kBytes = 2 };

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) {
    bytes.push_back(static_cast<char>(value | 0x80));
  }
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

std::string Key(int field, WireType type) {
  return Varint(static_cast<uint64_t>(field) << 3 | type);
}

// A string, bytes or a message. In the memory of `value`, which may be large,
// if it fits.
std::string Bytes(int field, std::string value) {
  value.insert(0, absl::StrCat(Key(field, kBytes), Varint(value.size())));
  return value;
}

std::string Whole(int field, uint64_t value) {
  return absl::StrCat(Key(field, kVarint), Varint(value));
}

// --- tensorflow.Event --------------------------------------------------------

enum ElementType { kFloatType = 1, kDoubleType = 2, kStringType = 7 };

std::string Event(double wall_time, int64_t step, std::string rest) {
  // Proto3 leaves zeros out.
  rest.insert(
      0, absl::StrCat(Key(1, kDouble), BytesOf(wall_time),
                      step == 0 ? "" : Whole(2, static_cast<uint64_t>(step))));
  return Framed(std::move(rest));
}

// A Summary with one value. `dimensions`: the sizes of a tensor; `content`: the
// fields of a TensorProto that have its elements. `plugin`: a
// SummaryMetadata.PluginData.
std::string Summary(absl::string_view tag, ElementType type,
                    absl::Span<const uint64_t> dimensions, std::string content,
                    std::string plugin) {
  std::string shape;
  for (const uint64_t size : dimensions) {
    absl::StrAppend(&shape, Bytes(2, Whole(1, size)));
  }
  content.insert(0, absl::StrCat(Whole(1, static_cast<uint64_t>(type)),
                                 Bytes(2, std::move(shape))));
  std::string value = Bytes(8, std::move(content));
  value.insert(0, Bytes(1, std::string(tag)));
  value.append(Bytes(9, Bytes(1, std::move(plugin))));
  return Bytes(5, Bytes(1, std::move(value)));
}

}  // namespace

std::string VersionRecord(double wall_time) {
  return Event(
      wall_time, 0,
      absl::StrCat(Bytes(3, "brain.Event:2"), Bytes(10, Bytes(1, "paceline"))));
}

std::string ScalarRecord(double wall_time, int64_t step, absl::string_view tag,
                         float value) {
  return Event(wall_time, step,
               Summary(tag, kFloatType, /*dimensions=*/{},
                       Bytes(4, BytesOf(value)), Bytes(1, "scalars")));
}

std::string HistogramRecord(double wall_time, int64_t step,
                            absl::string_view tag, const Histogram& histogram) {
  std::string content;
  for (const HistogramBucket& bucket : histogram) {
    absl::StrAppend(&content, BytesOf(bucket.left), BytesOf(bucket.right),
                    BytesOf(bucket.count));
  }
  return Event(wall_time, step,
               Summary(tag, kDoubleType, {histogram.size(), 3},
                       Bytes(4, std::move(content)), Bytes(1, "histograms")));
}

std::string ImageRecord(double wall_time, int64_t step, absl::string_view tag,
                        int64_t height, int64_t width,
                        absl::Span<const std::string> images) {
  // Before the images, the size of each as texts.
  std::string content = absl::StrCat(Bytes(8, absl::StrCat(width)),
                                     Bytes(8, absl::StrCat(height)));
  for (const std::string& image : images) {
    absl::StrAppend(&content, Bytes(8, image));
  }
  return Event(wall_time, step,
               Summary(tag, kStringType, {images.size() + 2},
                       std::move(content), Bytes(1, "images")));
}

std::string ModelRecord(double wall_time, absl::string_view json) {
  return Event(
      wall_time, 0,
      Summary("keras", kStringType, /*dimensions=*/{},
              Bytes(8, std::string(json)),
              absl::StrCat(Bytes(1, "graph_keras_model"), Bytes(2, "1"))));
}

}  // namespace paceline
