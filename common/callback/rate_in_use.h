// What callbacks that set the learning rate share.
#ifndef PACELINE_COMMON_CALLBACK_RATE_IN_USE_H_
#define PACELINE_COMMON_CALLBACK_RATE_IN_USE_H_

#include "absl/status/status.h"
#include "common/callback/callback.h"

namespace paceline {

// The learning rate `before` the event, or the one that callbacks before this
// one have decided, as Keras' optimizers keep it: rounded to float32.
double RateInUse(double before, const Decision& decision);

// ConfigError if the job's optimizer has a schedule, which nobody can set.
absl::Status CheckConstantRate(const Callback& callback,
                               const CallbackContext& context,
                               const Path& path);

// Keras' entry "learning_rate" in the logs: the rate in use.
void LogRate(const Decision& decision, EpochEnd& end);

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_RATE_IN_USE_H_
