// Runs a program of the user's at events of the job, and does what it answers.
#ifndef PACELINE_COMMON_CALLBACK_EXEC_H_
#define PACELINE_COMMON_CALLBACK_EXEC_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/callback/callback.h"
#include "common/config/codec.h"
#include "nlohmann/json_fwd.hpp"

namespace paceline {

template <typename T>
class FieldTable;

// Keras' names of the events, without "on_".
enum class ExecEvent {
  kTrainBegin,
  kEpochBegin,
  kTrainBatchBegin,
  kTrainBatchEnd,
  kTestBegin,
  kTestBatchBegin,
  kTestBatchEnd,
  kTestEnd,
  kEpochEnd,
  kTrainEnd
};
absl::Span<const EnumName<ExecEvent>> EnumNames(ExecEvent);

// Paceline's own: Keras has it as LambdaCallback. The program gets one line on
// its standard input, a JSON object with the event's name, what is known of it,
// and `logs`; a value that is not finite is a text, such as "nan". If the last
// line that it prints begins with "{", or the last ones are a JSON object that
// begins with a line, this is the answer, with stop_training, learning_rate,
// both or none. The rest is a message.
//
// The job waits for the answer, but not to an event of batches: while one is
// open, further ones of its name are left out, and batches that end count with
// the next.
class Exec final : public Callback {
 public:
  static constexpr char kClassName[] = "Exec";
  static const FieldTable<Exec>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::Status Prepare(const CallbackContext& context,
                       const Path& path) override;
  bool hears_batches() const override;
  bool hears_validation_batches() const override;
  void TrainingBegan(Decision& decision) override;
  void EpochBegan(const EpochStart& start, Decision& decision) override;
  void BatchBegan(const BatchStart& start, Decision& decision) override;
  void BatchEnded(const BatchEnd& end, Decision& decision) override;
  void ValidationBegan(int epoch, Decision& decision) override;
  void ValidationBatchBegan(int epoch, int64_t batch,
                            Decision& decision) override;
  void ValidationBatchEnded(const ValidationBatchEnd& end,
                            Decision& decision) override;
  void ValidationEnded(int epoch, const Logs& logs,
                       Decision& decision) override;
  void EpochEnded(EpochEnd& end, Decision& decision) override;
  void TrainingEnded(Decision& decision) override;
  absl::Status Answered(const RunCommand& run,
                        const absl::StatusOr<std::string>& output,
                        Decision& decision) override;

  std::vector<std::string> command;
  std::vector<ExecEvent> on = {ExecEvent::kEpochEnd};
  // In seconds.
  double timeout = 60;

 private:
  bool Hears(ExecEvent event) const;
  // Whether the event runs the program now.
  bool Runs(ExecEvent event) const;
  void Run(ExecEvent event, const nlohmann::ordered_json& about,
           Decision& decision);

  // Where it is in the job.
  std::string where_;
  bool has_rate_schedule_ = false;
  // Of the last epoch that has ended in this run.
  Logs last_logs_;
  // The events of batches whose program has not answered.
  std::set<ExecEvent> open_;
  // Steps of the epoch and of the validation that have ended since the last
  // event of them.
  int64_t missed_ = 0;
  int64_t missed_in_validation_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_EXEC_H_
