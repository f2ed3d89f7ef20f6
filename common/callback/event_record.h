// Records of TensorBoard's event files.
//
// A file is a sequence of records: the length of the data as a little-endian
// uint64, its masked CRC-32C, the data, and their masked CRC-32C. The data of
// each is a message tensorflow.Event, the first of which has the version of the
// file.
#ifndef PACELINE_COMMON_CALLBACK_EVENT_RECORD_H_
#define PACELINE_COMMON_CALLBACK_EVENT_RECORD_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/callback/histogram.h"

namespace paceline {

// `wall_time`: seconds since 1970.

// The first record of a file.
std::string VersionRecord(double wall_time);
// A point of the curve `tag`.
std::string ScalarRecord(double wall_time, int64_t step, absl::string_view tag,
                         float value);
// A histogram of the series `tag`.
std::string HistogramRecord(double wall_time, int64_t step,
                            absl::string_view tag, const Histogram& histogram);
// Images of the series `tag`, encoded as PNG, all of the same size in pixels.
std::string ImageRecord(double wall_time, int64_t step, absl::string_view tag,
                        int64_t height, int64_t width,
                        absl::Span<const std::string> images);
// A model, as Keras' to_json gives it, for the graph page.
std::string ModelRecord(double wall_time, absl::string_view json);

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_EVENT_RECORD_H_
