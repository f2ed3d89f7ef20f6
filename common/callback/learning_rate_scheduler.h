// Sets the learning rate of each epoch where it begins, as
// keras.callbacks.LearningRateScheduler does.
#ifndef PACELINE_COMMON_CALLBACK_LEARNING_RATE_SCHEDULER_H_
#define PACELINE_COMMON_CALLBACK_LEARNING_RATE_SCHEDULER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/callback/callback.h"
#include "common/callback/rate_schedule.h"

namespace paceline {

template <typename T>
class FieldTable;

class LearningRateScheduler final : public Callback {
 public:
  static constexpr char kClassName[] = "LearningRateScheduler";
  static const FieldTable<LearningRateScheduler>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::Status Prepare(const CallbackContext& context,
                       const Path& path) override;
  void EpochBegan(const EpochStart& start, Decision& decision) override;
  void EpochEnded(EpochEnd& end, Decision& decision) override;

  RateSchedule schedule;
  int64_t verbose = 0;

 private:
  // Where it is in the job.
  std::string where_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_LEARNING_RATE_SCHEDULER_H_
