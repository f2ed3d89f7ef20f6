// Adds a whole function to a program.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_ADD_CALLS_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_ADD_CALLS_H_

#include <vector>

#include "absl/types/span.h"
#include "common/operations/function.h"
#include "worker/device/program/layout_builder.h"
#include "worker/device/program/tensor.h"

namespace paceline {

// Adds all calls of a function, with these tensors as its parameters, which are
// not overwritten. Returns the results.
//
// `places` says where to write each result, if it is not empty. A result may be
// elsewhere nevertheless: a parameter, a constant, a tensor that is a result
// twice, or one that its operation does not compute in place.
std::vector<Tensor*> AddCalls(const op::Function& function,
                              absl::Span<Tensor* const> parameters,
                              LayoutBuilder& builder,
                              absl::Span<Tensor* const> places = {});

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_ADD_CALLS_H_
