// Ends the job at a loss that is not finite, as keras.callbacks.TerminateOnNaN
// does: the session does so for each job, unless `terminate_on_nan` is false.
#ifndef PACELINE_COMMON_CALLBACK_TERMINATE_ON_NAN_H_
#define PACELINE_COMMON_CALLBACK_TERMINATE_ON_NAN_H_

#include "absl/strings/string_view.h"
#include "common/callback/callback.h"

namespace paceline {

template <typename T>
class FieldTable;

class TerminateOnNan final : public Callback {
 public:
  static constexpr char kClassName[] = "TerminateOnNaN";
  static const FieldTable<TerminateOnNan>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::Status Prepare(const CallbackContext& context,
                       const Path& path) override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_TERMINATE_ON_NAN_H_
