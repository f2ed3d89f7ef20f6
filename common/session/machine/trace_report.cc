#include "common/session/machine/trace_report.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/peer_count.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/image/image_limits.h"
#include "common/limits.h"
#include "google/protobuf/repeated_ptr_field.h"

namespace paceline {
namespace {

using Texts = google::protobuf::RepeatedPtrField<std::string>;

// 2242: nanoseconds since 1970, and those of a trace after them, are in the
// range of int64.
constexpr int64_t kMaxTraceSeconds = int64_t{1} << 33;

constexpr absl::string_view kPngSignature = "\x89PNG\r\n\x1a\n";
// Up to the height: the signature, a chunk's length, its type and two numbers.
constexpr size_t kPngHeadBytes = 24;

absl::Status CheckCount(absl::string_view field, size_t count, size_t most) {
  if (count <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": ", count, "; expected at most ", most));
}

// PeerText leaves a plain text as it is.
static_assert(kMaxTraceTextBytes <= limits::kMaxPeerTextCharacters);

bool IsPlainText(absl::string_view text) {
  return !text.empty() && text.size() <= kMaxTraceTextBytes &&
         PeerText(text) == text;
}

absl::Status ReadTexts(absl::string_view field, const Texts& texts, size_t most,
                       std::vector<std::string>& out) {
  RETURN_IF_ERROR(CheckCount(field, static_cast<size_t>(texts.size()), most));
  for (const std::string& text : texts) {
    if (!IsPlainText(text)) {
      return absl::InvalidArgumentError(absl::StrCat(
          field, ": \"", PeerText(text), "\"; expected UTF-8 of 1 to ",
          kMaxTraceTextBytes, " bytes without control characters"));
    }
    out.push_back(text);
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ReadStart(const google::protobuf::Timestamp& start) {
  if (start.seconds() < 0 || start.seconds() > kMaxTraceSeconds ||
      start.nanos() < 0 || start.nanos() >= 1'000'000'000) {
    return absl::InvalidArgumentError(
        absl::StrCat("start: ", start.seconds(), " s and ", start.nanos(),
                     " ns; expected 0 to ", kMaxTraceSeconds,
                     " s, and less than a second more"));
  }
  return start.seconds() * 1'000'000'000 + start.nanos();
}

absl::StatusOr<TraceSpan> ReadSpan(const v1::TraceSpan& span,
                                   const Trace& trace) {
  if (span.name() >= trace.names.size() || span.lane() >= trace.lanes.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("spans: name ", span.name(), " in lane ", span.lane(),
                     "; expected indices below ", trace.names.size(), " and ",
                     trace.lanes.size()));
  }
  TraceSpan read{.name = span.name(), .lane = span.lane()};
  ASSIGN_OR_RETURN(read.begin_ns, ReadCount("spans.begin_ns", span.begin_ns(),
                                            kMaxTraceNanoseconds));
  ASSIGN_OR_RETURN(read.duration_ns,
                   ReadCount("spans.duration_ns", span.duration_ns(),
                             kMaxTraceNanoseconds - read.begin_ns));
  return read;
}

int64_t BigEndian(absl::string_view bytes) {
  int64_t number = 0;
  for (const char byte : bytes) {
    number = number << 8 | static_cast<unsigned char>(byte);
  }
  return number;
}

absl::StatusOr<ImageSize> ReadPngSize(absl::string_view png) {
  if (png.size() >= kPngHeadBytes && absl::StartsWith(png, kPngSignature) &&
      png.substr(12, 4) == "IHDR") {
    const ImageSize size = {BigEndian(png.substr(20, 4)),
                            BigEndian(png.substr(16, 4))};
    if (size.height > 0 && size.width > 0 &&
        size.height <= kMaxImagePixels / size.width) {
      return size;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "images: ", png.size(), " bytes, \"", PeerText(png.substr(0, 24)),
      "…\"; expected a PNG file of at most ", kMaxImagePixels, " pixels"));
}

}  // namespace

absl::StatusOr<Trace> ReadTrace(const v1::ReportTraceRequest& request) {
  Trace trace;
  ASSIGN_OR_RETURN(trace.start_ns, ReadStart(request.start()));
  RETURN_IF_ERROR(
      ReadTexts("lanes", request.lanes(), kMaxTraceLanes, trace.lanes));
  RETURN_IF_ERROR(
      ReadTexts("names", request.names(), kMaxTraceNames, trace.names));
  RETURN_IF_ERROR(CheckCount("spans", static_cast<size_t>(request.spans_size()),
                             kMaxTraceSpans));
  trace.spans.reserve(static_cast<size_t>(request.spans_size()));
  for (const v1::TraceSpan& span : request.spans()) {
    ASSIGN_OR_RETURN(trace.spans.emplace_back(), ReadSpan(span, trace));
  }
  trace.dropped_spans = request.dropped_spans();
  return trace;
}

absl::StatusOr<FirstImages> ReadImages(const v1::ReportImagesRequest& request,
                                       int64_t most) {
  RETURN_IF_ERROR(CheckCount("images",
                             static_cast<size_t>(request.images_size()),
                             static_cast<size_t>(most)));
  FirstImages read;
  int64_t bytes = 0;
  for (const std::string& image : request.images()) {
    bytes += static_cast<int64_t>(image.size());
    ASSIGN_OR_RETURN(const ImageSize size, ReadPngSize(image));
    if (read.images.empty()) read.size = size;
    if (size != read.size) {
      return absl::InvalidArgumentError(
          absl::StrCat("images: one of ", size.height, " x ", size.width,
                       " pixels beside ", "one of ", read.size.height, " x ",
                       read.size.width, "; expected images of one size"));
    }
    read.images.push_back(image);
  }
  if (read.images.empty() || bytes > kMaxFirstImageBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("images: ", read.images.size(), " of ", bytes,
                     " bytes together; expected some, of at most ",
                     kMaxFirstImageBytes, " bytes"));
  }
  return read;
}

}  // namespace paceline
