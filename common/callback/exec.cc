#include "common/callback/exec.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "common/base/peer_text.h"
#include "common/base/printed_text.h"
#include "common/base/status_macros.h"
#include "common/callback/monitor_callback.h"
#include "common/callback/rate_in_use.h"
#include "common/config/field_table.h"
#include "common/config/json_reader.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

using nlohmann::ordered_json;

constexpr int64_t kMaxAnswerBytes = 1 << 16;
constexpr double kMaxTimeout = 86400;

struct ExecAnswer {
  bool stop_training = false;
  std::optional<double> learning_rate;
};

const FieldTable<ExecAnswer>& AnswerFields() {
  static const auto& table = *new FieldTable<ExecAnswer>(
      "answer", "What a program answers.",
      {Optional("stop_training", &ExecAnswer::stop_training,
                "Whether training ends."),
       Optional("learning_rate", &ExecAnswer::learning_rate,
                Between(0, std::numeric_limits<float>::max()),
                "Of the steps from now on.")});
  return table;
}

// What a program printed: a message, and the lines of its answer.
struct Printed {
  absl::string_view message;
  absl::string_view answer;
};

// `output` with its answer from `begin` on.
Printed CutAt(absl::string_view output, size_t begin) {
  return {begin == 0 ? "" : output.substr(0, begin - 1),
          absl::StripLeadingAsciiWhitespace(output.substr(begin))};
}

// Where the last line that begins with "{", without a space before it, begins.
std::optional<size_t> LastBrace(absl::string_view output) {
  const size_t last = output.rfind("\n{");
  if (last != absl::string_view::npos) return last + 1;
  if (absl::StartsWith(output, "{")) return 0;
  return std::nullopt;
}

Printed Split(absl::string_view output) {
  output = absl::StripTrailingAsciiWhitespace(output);
  const size_t end = output.rfind('\n');
  const size_t begin = end == absl::string_view::npos ? 0 : end + 1;
  const absl::string_view last =
      absl::StripLeadingAsciiWhitespace(output.substr(begin));
  if (absl::StartsWith(last, "{")) return CutAt(output, begin);
  const std::optional<size_t> brace = LastBrace(output);
  if (!brace || !absl::EndsWith(last, "}")) return {output, ""};
  const Printed indented = CutAt(output, *brace);
  // A text may end so, too; one whose last line is a brace alone is an answer,
  // also if it is none that can be read.
  const bool is_answer =
      last == "}" || (indented.answer.size() <= kMaxAnswerBytes &&
                      ordered_json::accept(indented.answer));
  return is_answer ? indented : Printed{output, ""};
}

absl::StatusOr<ExecAnswer> ReadAnswer(absl::string_view text) {
  if (text.empty()) return ExecAnswer();
  ASSIGN_OR_RETURN(const Value value,
                   ReadJson(text, "answer", kMaxAnswerBytes));
  return AnswerFields().Read(value, Path("answer"));
}

absl::Status CheckFields(const Exec& exec, const Path& path) {
  if (exec.command.empty() || exec.command.front().empty()) {
    return ConfigError(path.Key("command"),
                       "expected a program and its arguments");
  }
  for (const std::string& each : exec.command) {
    if (each.find('\0') != std::string::npos) {
      return ConfigError(path.Key("command"), "expected no NUL character");
    }
  }
  if (exec.on.empty()) {
    return ConfigError(path.Key("on"), "expected at least one event");
  }
  const std::set<ExecEvent> events(exec.on.begin(), exec.on.end());
  if (events.size() < exec.on.size()) {
    return ConfigError(path.Key("on"), "expected each event once");
  }
  return absl::OkStatus();
}

// Those of batches, to whose programs the job does not wait.
bool IsOfBatches(ExecEvent event) {
  switch (event) {
    case ExecEvent::kTrainBatchBegin:
    case ExecEvent::kTrainBatchEnd:
    case ExecEvent::kTestBatchBegin:
    case ExecEvent::kTestBatchEnd:
      return true;
    default:
      return false;
  }
}

ordered_json ToJson(const Logs& logs) {
  ordered_json object = ordered_json::object();
  for (const auto& [key, value] : logs) object[key] = SaveNumber(value);
  return object;
}

}  // namespace

absl::Span<const EnumName<ExecEvent>> EnumNames(ExecEvent) {
  static constexpr EnumName<ExecEvent> kNames[] = {
      {ExecEvent::kTrainBegin, "train_begin"},
      {ExecEvent::kEpochBegin, "epoch_begin"},
      {ExecEvent::kTrainBatchBegin, "train_batch_begin"},
      {ExecEvent::kTrainBatchEnd, "train_batch_end"},
      {ExecEvent::kTestBegin, "test_begin"},
      {ExecEvent::kTestBatchBegin, "test_batch_begin"},
      {ExecEvent::kTestBatchEnd, "test_batch_end"},
      {ExecEvent::kTestEnd, "test_end"},
      {ExecEvent::kEpochEnd, "epoch_end"},
      {ExecEvent::kTrainEnd, "train_end"}};
  return kNames;
}

const FieldTable<Exec>& Exec::Fields() {
  static const auto& table = *new FieldTable<Exec>(
      kClassName,
      "Runs a program where the job is led, at events of Keras' callbacks. Its "
      "standard input has one line, a JSON object: `event`, `epoch` (from 0), "
      "`logs`, and, where they are known, `learning_rate` (of the next step), "
      "`step` (steps of the job so far), `batch` and `count`. A value of "
      "`logs` that is not finite is a text, `\"nan\"`, `\"inf\"` or "
      "`\"-inf\"`. "
      "If the last line that it prints begins with `{`, or the last lines are "
      "a JSON object from a `{` at the begin of a line on, that is its answer, "
      "such as `{\"stop_training\": true, \"learning_rate\": 0.01}`; what it "
      "prints before is a message. The job waits for it, except at "
      "events of batches: the answer then holds from the next lease of steps. "
      "A bad answer, "
      "another exit code than 0 and the end of `timeout` end the job. Not part "
      "of Keras. Services, and a `worker` that leads by TF_CONFIG, refuse it "
      "without `--allow-exec`, and of their environment it gets only `PATH`, "
      "`HOME`, `USER`, `TMPDIR`, `TZ`, `LANG`, `LC_*`, `LD_LIBRARY_PATH`, "
      "`CUDA_VISIBLE_DEVICES`, `PYTHON*`, `VIRTUAL_ENV` and "
      "`PACELINE_COORDINATOR`; `coordinator run` gives it all.",
      {Required("command", &Exec::command,
                "The program, found by PATH before training begins, and its "
                "arguments; no shell. It runs in the folder where the leader "
                "was started, which relative paths are of."),
       Optional(
           "on", &Exec::on,
           "The events, Keras' names without `on_`. `train_begin`, "
           "`train_end`: once in a run, or in a phase of it; the latter with "
           "the logs of the run's last epoch, before "
           "`data.test` is evaluated. `epoch_begin`: before a step of the "
           "epoch is handed out. `epoch_end`: after its validation. "
           "`test_begin`, `test_end`: around a validation. Workers report "
           "their steps with heartbeats, so batches come in groups, in the "
           "order of the job's steps: `train_batch_begin` when steps are "
           "handed out that follow those of the last group, with `batch`, the "
           "first of the group by its number in the epoch, from 0; "
           "`train_batch_end` when they have ended, with `batch`, the last, "
           "`count`, how many there are, and the means of the epoch so far as "
           "`logs`. `test_batch_begin`, `test_batch_end`: the same of a "
           "validation, whose batches are those of one worker. While a "
           "program of such an event runs, further ones of its name are left "
           "out, and steps that end count with the next. A job makes no "
           "predictions, so there are no events of `predict`."),
       Optional("timeout", &Exec::timeout, AboveUpTo(0, kMaxTimeout),
                "Seconds until the program and its children are killed.")},
      [] { return Exec(); }, CheckFields);
  return table;
}

absl::Status Exec::Prepare(const CallbackContext& context, const Path& path) {
  where_ = path.text();
  has_rate_schedule_ = context.has_rate_schedule;
  if (!context.allows_exec) {
    return ConfigError(
        path, absl::StrCat("Exec runs a program, which is not allowed where "
                           "this job is led; expected ",
                           kAllowExec));
  }
  if (context.find_program == nullptr) return absl::OkStatus();
  const absl::Status found = context.find_program(command.front());
  if (found.ok()) return absl::OkStatus();
  return ConfigError(path.Key("command").Index(0),
                     absl::StrCat(Excerpt(Value(command.front())), ": ",
                                  PeerText(found.message()),
                                  "; expected a program in PATH, or its path"));
}

bool Exec::Hears(ExecEvent event) const {
  return std::find(on.begin(), on.end(), event) != on.end();
}

bool Exec::Runs(ExecEvent event) const {
  return Hears(event) && !open_.contains(event);
}

bool Exec::hears_batches() const {
  return Hears(ExecEvent::kTrainBatchBegin) || Hears(ExecEvent::kTrainBatchEnd);
}

bool Exec::hears_validation_batches() const {
  return Hears(ExecEvent::kTestBatchBegin) || Hears(ExecEvent::kTestBatchEnd);
}

void Exec::TrainingBegan(Decision& decision) {
  Run(ExecEvent::kTrainBegin, {{"logs", ToJson({})}}, decision);
}

void Exec::EpochBegan(const EpochStart& start, Decision& decision) {
  missed_ = 0;
  Run(ExecEvent::kEpochBegin,
      {{"epoch", start.epoch},
       {"step", start.steps},
       {"learning_rate", RateInUse(start.learning_rate, decision)},
       {"logs", ToJson({})}},
      decision);
}

void Exec::BatchBegan(const BatchStart& start, Decision& decision) {
  Run(ExecEvent::kTrainBatchBegin,
      {{"epoch", start.epoch},
       {"batch", start.batch},
       {"step", start.steps},
       {"learning_rate", RateInUse(start.learning_rate, decision)},
       {"logs", ToJson({})}},
      decision);
}

void Exec::BatchEnded(const BatchEnd& end, Decision& decision) {
  missed_ += end.count;
  if (!Runs(ExecEvent::kTrainBatchEnd)) return;
  Run(ExecEvent::kTrainBatchEnd,
      {{"epoch", end.epoch},
       {"batch", end.batch},
       {"count", std::exchange(missed_, 0)},
       {"step", end.steps},
       {"learning_rate", RateInUse(end.learning_rate, decision)},
       {"logs", ToJson(end.logs)}},
      decision);
}

void Exec::ValidationBegan(int epoch, Decision& decision) {
  missed_in_validation_ = 0;
  Run(ExecEvent::kTestBegin, {{"epoch", epoch}, {"logs", ToJson({})}},
      decision);
}

void Exec::ValidationBatchBegan(int epoch, int64_t batch, Decision& decision) {
  Run(ExecEvent::kTestBatchBegin,
      {{"epoch", epoch}, {"batch", batch}, {"logs", ToJson({})}}, decision);
}

void Exec::ValidationBatchEnded(const ValidationBatchEnd& end,
                                Decision& decision) {
  missed_in_validation_ += end.count;
  if (!Runs(ExecEvent::kTestBatchEnd)) return;
  Run(ExecEvent::kTestBatchEnd,
      {{"epoch", end.epoch},
       {"batch", end.batch},
       {"count", std::exchange(missed_in_validation_, 0)},
       {"logs", ToJson(end.logs)}},
      decision);
}

void Exec::ValidationEnded(int epoch, const Logs& logs, Decision& decision) {
  Run(ExecEvent::kTestEnd, {{"epoch", epoch}, {"logs", ToJson(logs)}},
      decision);
}

void Exec::EpochEnded(EpochEnd& end, Decision& decision) {
  Run(ExecEvent::kEpochEnd,
      {{"epoch", end.epoch},
       {"step", end.steps},
       {"learning_rate", RateInUse(end.learning_rate, decision)},
       {"logs", ToJson(end.logs)}},
      decision);
  last_logs_ = end.logs;
}

void Exec::TrainingEnded(Decision& decision) {
  Run(ExecEvent::kTrainEnd, {{"logs", ToJson(last_logs_)}}, decision);
}

void Exec::Run(ExecEvent event, const ordered_json& about, Decision& decision) {
  if (!Runs(event)) return;
  if (IsOfBatches(event)) open_.insert(event);
  ordered_json input = {{"event", Codec<ExecEvent>::Write(event).as_string()}};
  input.update(about);
  RunCommand run;
  run.command = command;
  run.input = absl::StrCat(input.dump(), "\n");
  run.timeout = absl::Seconds(timeout);
  run.event = static_cast<int>(event);
  run.is_awaited = !IsOfBatches(event);
  decision.outputs.emplace_back(std::move(run));
}

absl::Status Exec::Answered(const RunCommand& run,
                            const absl::StatusOr<std::string>& output,
                            Decision& decision) {
  open_.erase(static_cast<ExecEvent>(run.event));
  const auto error = [this](const absl::Status& status,
                            absl::string_view said) {
    // The job was fine when it began: this is a failure in mid-run.
    return absl::FailedPreconditionError(absl::StrCat(
        where_, ": Exec: the command \"", PeerText(absl::StrJoin(command, " ")),
        "\": ", status.message(), said));
  };
  if (!output.ok()) return error(output.status(), "");
  const Printed printed = Split(*output);
  absl::StatusOr<ExecAnswer> answer = ReadAnswer(printed.answer);
  if (answer.ok() && answer->learning_rate && has_rate_schedule_) {
    answer = absl::InvalidArgumentError(
        "answer.learning_rate: the job's optimizer has a schedule; expected "
        "an optimizer with a constant learning_rate");
  }
  if (!answer.ok()) {
    return error(answer.status(),
                 absl::StrCat(absl::StrContains(printed.answer, '\n')
                                  ? "; its last lines: "
                                  : "; its last line: ",
                              PeerText(printed.answer)));
  }
  if (!printed.message.empty()) {
    decision.outputs.emplace_back(ShowMessage{PrintedText(printed.message)});
  }
  if (answer->stop_training) decision.stops_training = true;
  if (answer->learning_rate) decision.learning_rate = answer->learning_rate;
  return absl::OkStatus();
}

}  // namespace paceline
