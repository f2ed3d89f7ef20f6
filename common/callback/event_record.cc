#include "common/callback/event_record.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/crc32c.h"
#include "common/callback/protobuf_encoding.h"

namespace paceline {
namespace {

std::string Masked(absl::string_view bytes) {
  const auto* const data = reinterpret_cast<const std::byte*>(bytes.data());
  return FixedBytes(MaskCrc32c(ExtendCrc32c(0, {data, bytes.size()})));
}

// In the memory of `data`, which may be large, if it fits.
std::string Framed(std::string data) {
  const std::string size = FixedBytes(uint64_t{data.size()});
  const std::string checksum = Masked(data);
  data.insert(0, absl::StrCat(size, Masked(size)));
  return data.append(checksum);
}

// --- tensorflow.Event --------------------------------------------------------

enum ElementType { kFloatType = 1, kDoubleType = 2, kStringType = 7 };

std::string Event(double wall_time, int64_t step, std::string rest) {
  // Proto3 leaves zeros out.
  rest.insert(0,
              absl::StrCat(
                  DoubleField(1, wall_time),
                  step == 0 ? "" : WholeField(2, static_cast<uint64_t>(step))));
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
    absl::StrAppend(&shape, BytesField(2, WholeField(1, size)));
  }
  content.insert(0, absl::StrCat(WholeField(1, static_cast<uint64_t>(type)),
                                 BytesField(2, std::move(shape))));
  std::string value = BytesField(8, std::move(content));
  value.insert(0, BytesField(1, std::string(tag)));
  value.append(BytesField(9, BytesField(1, std::move(plugin))));
  return BytesField(5, BytesField(1, std::move(value)));
}

}  // namespace

std::string VersionRecord(double wall_time) {
  return Event(wall_time, 0,
               absl::StrCat(BytesField(3, "brain.Event:2"),
                            BytesField(10, BytesField(1, "paceline"))));
}

std::string ScalarRecord(double wall_time, int64_t step, absl::string_view tag,
                         float value) {
  return Event(
      wall_time, step,
      Summary(tag, kFloatType, /*dimensions=*/{},
              BytesField(4, FixedBytes(value)), BytesField(1, "scalars")));
}

std::string HistogramRecord(double wall_time, int64_t step,
                            absl::string_view tag, const Histogram& histogram) {
  std::string content;
  for (const HistogramBucket& bucket : histogram) {
    absl::StrAppend(&content, FixedBytes(bucket.left), FixedBytes(bucket.right),
                    FixedBytes(bucket.count));
  }
  return Event(
      wall_time, step,
      Summary(tag, kDoubleType, {histogram.size(), 3},
              BytesField(4, std::move(content)), BytesField(1, "histograms")));
}

std::string ImageRecord(double wall_time, int64_t step, absl::string_view tag,
                        int64_t height, int64_t width,
                        absl::Span<const std::string> images) {
  // Before the images, the size of each as texts.
  std::string content = absl::StrCat(BytesField(8, absl::StrCat(width)),
                                     BytesField(8, absl::StrCat(height)));
  for (const std::string& image : images) {
    absl::StrAppend(&content, BytesField(8, image));
  }
  return Event(wall_time, step,
               Summary(tag, kStringType, {images.size() + 2},
                       std::move(content), BytesField(1, "images")));
}

std::string ModelRecord(double wall_time, absl::string_view json) {
  return Event(wall_time, 0,
               Summary("keras", kStringType, /*dimensions=*/{},
                       BytesField(8, std::string(json)),
                       absl::StrCat(BytesField(1, "graph_keras_model"),
                                    BytesField(2, "1"))));
}

}  // namespace paceline
