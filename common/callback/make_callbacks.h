// Creates the callbacks of a job from configs.
#ifndef PACELINE_COMMON_CALLBACK_MAKE_CALLBACKS_H_
#define PACELINE_COMMON_CALLBACK_MAKE_CALLBACKS_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/callback/callback.h"
#include "common/callback/callback_list.h"
#include "common/model/output_spec.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

struct ClassReference;

// What the callbacks of a job know of it, without its files. `outputs`: of its
// model.
CallbackContext ContextOf(const v1::Job& job,
                          absl::Span<const OutputSpec> outputs);

// The callbacks that the job names, each checked by the field table of its
// class. Errors name the callback by its index.
absl::StatusOr<std::unique_ptr<CallbackList>> MakeCallbacks(
    const v1::Job& job, const CallbackContext& context);

// The references of all callbacks, by class name.
std::vector<ClassReference> CallbackReferences();

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_MAKE_CALLBACKS_H_
