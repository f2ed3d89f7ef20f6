// The callbacks of a job, which get each event in their order.
#ifndef PACELINE_COMMON_CALLBACK_CALLBACK_LIST_H_
#define PACELINE_COMMON_CALLBACK_CALLBACK_LIST_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/callback/callback.h"
#include "nlohmann/json_fwd.hpp"

namespace paceline {

// Not thread-safe.
class CallbackList {
 public:
  // No callbacks.
  CallbackList() = default;
  explicit CallbackList(std::vector<std::unique_ptr<Callback>> callbacks)
      : callbacks_(std::move(callbacks)) {}

  // See Callback. They return what was decided.
  Decision EpochBegan(const EpochStart& start);
  Decision EpochEnded(EpochEnd end);
  Decision TrainingEnded();

  // A list with the class and the state of each callback.
  nlohmann::json Save() const;
  // InvalidArgument, naming both lists, if `saved` is of other callbacks;
  // DataLoss if Save cannot have returned it. `where` is its place in errors:
  // "session.callbacks".
  absl::Status Restore(const nlohmann::json& saved, const std::string& where);

 private:
  std::vector<std::unique_ptr<Callback>> callbacks_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_CALLBACK_LIST_H_
