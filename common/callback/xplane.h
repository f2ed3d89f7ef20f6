// Traces as the profile page of TensorBoard reads them.
#ifndef PACELINE_COMMON_CALLBACK_XPLANE_H_
#define PACELINE_COMMON_CALLBACK_XPLANE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "common/callback/trace.h"

namespace paceline {

// A message tensorflow.profiler.XSpace, the content of a file `.xplane.pb`, as
// tsl/profiler/protobuf/xplane.proto defines it: the host `task` has one plane,
// with a line for each lane of the trace. Indices of spans must be valid.
std::string EncodeXSpace(absl::string_view task, const Trace& trace);

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_XPLANE_H_
