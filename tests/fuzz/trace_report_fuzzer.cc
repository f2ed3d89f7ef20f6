// What a worker sends for TensorBoard: a trace, or images of the first batch,
// as bytes of a message behind a byte that says which.
#include <glog/logging.h>

#include <string>

#include "common/callback/xplane.h"
#include "common/session/machine/trace_report.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {
namespace {

void FuzzTrace(const std::string& bytes) {
  v1::ReportTraceRequest request;
  if (!request.ParseFromString(bytes)) return;
  const auto trace = ReadTrace(request);
  if (!trace.ok()) return;
  for (const TraceSpan& span : trace->spans) {
    CHECK_GE(span.begin_ns, 0);
    CHECK_GE(span.duration_ns, 0);
    CHECK_LE(span.begin_ns + span.duration_ns, kMaxTraceNanoseconds);
  }
  CHECK(!EncodeXSpace("worker-0", *trace).empty());
}

void FuzzImages(const std::string& bytes) {
  v1::ReportImagesRequest request;
  if (!request.ParseFromString(bytes)) return;
  const auto images = ReadImages(request, kMaxFirstImages);
  if (!images.ok()) return;
  CHECK(!images->images.empty());
  CHECK(images->size.height > 0 && images->size.width > 0);
}

}  // namespace

void Fuzz(FuzzInput input) {
  const bool has_images = input.Below(2) == 1;
  const std::string bytes(input.rest());
  has_images ? FuzzImages(bytes) : FuzzTrace(bytes);
}

}  // namespace paceline
