// The callbacks of a job, which get each event in their order.
#ifndef PACELINE_COMMON_CALLBACK_CALLBACK_LIST_H_
#define PACELINE_COMMON_CALLBACK_CALLBACK_LIST_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

  // Whether a callback does.
  bool hears_batches() const;
  bool hears_validation_batches() const;
  // Whether a callback does; see Callback.
  bool restores_kept() const;
  bool swaps_averages() const;

  // Those of the callback that has some; see Callback.
  ProfileBatch traced_steps() const;
  int64_t first_batch_images() const;

  // The steps after which the first callback asks for a file; see Callback.
  std::optional<int64_t> steps_to_save() const;

  // See Callback. They return what was decided.
  Decision TrainingBegan();
  Decision EpochBegan(const EpochStart& start);
  Decision BatchBegan(const BatchStart& start);
  Decision BatchEnded(const BatchEnd& end);
  Decision ValidationBegan(int epoch);
  Decision ValidationBatchBegan(int epoch, int64_t batch);
  Decision ValidationBatchEnded(const ValidationBatchEnd& end);
  Decision ValidationEnded(int epoch, const Logs& logs);
  Decision EpochEnded(EpochEnd end);
  Decision TrainingEnded();
  Decision ImagesCame(const FirstImages& images);
  Decision TraceCame(const std::string& task,
                     const std::shared_ptr<const Trace>& trace);
  // Tells the callback that has asked for the program.
  absl::StatusOr<Decision> Answered(const RunCommand& run,
                                    const absl::StatusOr<std::string>& output);

  // A list with the class and the state of each callback.
  nlohmann::json Save() const;
  // InvalidArgument, naming both lists, if `saved` is of other callbacks;
  // DataLoss if Save cannot have returned it. `where` is its place in errors:
  // "session.callbacks".
  absl::Status Restore(const nlohmann::json& saved, const std::string& where);

 private:
  // Tells all of an event.
  Decision Tell(absl::FunctionRef<void(Callback&, Decision&)> event);

  std::vector<std::unique_ptr<Callback>> callbacks_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_CALLBACK_LIST_H_
