// The `schedule` of LearningRateScheduler.
#ifndef PACELINE_COMMON_CALLBACK_RATE_SCHEDULE_H_
#define PACELINE_COMMON_CALLBACK_RATE_SCHEDULE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "common/callback/schedule_expression.h"

namespace paceline {

class Path;
class Value;

// A table of epochs and rates, or an expression. Immutable once it was read.
class RateSchedule {
 public:
  // The learning rate for the epoch that begins; any number.
  double At(const ScheduleVariables& variables) const;
  // The text of the expression; "": it is a table.
  const std::string& text() const { return text_; }

  // A map such as {0: 0.001, 3: 0.0001}, whose keys are the epochs, from 0,
  // from which on the rates hold, or the text of an expression. See codec.h.
  friend absl::Status ReadConfig(const Value& value, const Path& path,
                                 RateSchedule& out);
  friend Value WriteConfig(const RateSchedule& schedule);

 private:
  std::map<int64_t, double> rates_;
  // Set if it is an expression.
  std::optional<ScheduleExpression> expression_;
  std::string text_;
};

std::string ConfigType(const RateSchedule*);

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_RATE_SCHEDULE_H_
