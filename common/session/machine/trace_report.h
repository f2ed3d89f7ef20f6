// Reads what workers send for TensorBoard: traces, and images of the first
// batch. Everything is checked here, before it enters the session.
#ifndef PACELINE_COMMON_SESSION_MACHINE_TRACE_REPORT_H_
#define PACELINE_COMMON_SESSION_MACHINE_TRACE_REPORT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "common/callback/callback.h"
#include "common/callback/trace.h"
#include "paceline/v1/coordinator.pb.h"

namespace paceline {

// All errors are InvalidArgument and name the field, its value and what is
// expected.

// Whether spans of a lane overlap is not checked: it only matters to whoever
// looks at them.
absl::StatusOr<Trace> ReadTrace(const v1::ReportTraceRequest& request);

// Of a PNG file only its header is read, which says its size. There may be
// `most` images.
absl::StatusOr<FirstImages> ReadImages(const v1::ReportImagesRequest& request,
                                       int64_t most);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MACHINE_TRACE_REPORT_H_
