#include "tests/unit/callback/callback_runs.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/config/json_value.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "glog/logging.h"

namespace paceline {
namespace {

using nlohmann::json;

double NumberOf(const json& value) {
  if (!value.is_string()) return value.get<double>();
  const std::string text = value.get<std::string>();
  return text == "nan" ? std::nan("") : text == "inf" ? HUGE_VAL : -HUGE_VAL;
}

void Take(const Decision& decision, CallbackRun& run) {
  for (const CallbackOutput& output : decision.outputs) {
    if (const auto* message = std::get_if<ShowMessage>(&output)) {
      run.printed.push_back(message->text);
    } else if (const auto* warning = std::get_if<ShowWarning>(&output)) {
      run.warned.push_back(warning->text);
    } else if (const auto* write = std::get_if<WriteToFile>(&output)) {
      CHECK_LE(write->offset, static_cast<int64_t>(run.written.size()));
      run.written.resize(write->offset);
      run.written += write->bytes;
    }
  }
}

}  // namespace

json ExpectedCases(const std::string& key) {
  const auto text = ReadFile(
      PACELINE_SOURCE_DIR "/tests/interop/callbacks_expected.json", 1 << 20);
  CHECK(text.ok()) << text.status();
  return json::parse(*text).at(key);
}

Logs LogsOf(const json& logs) {
  Logs result;
  for (const auto& [key, value] : logs.items()) {
    result.emplace_back(key, NumberOf(value));
  }
  return result;
}

v1::Job JobWith(const json& callbacks) {
  v1::Job job;
  job.set_terminate_on_nan(true);
  for (const json& callback : callbacks) {
    const auto object =
        ReadKerasObject(ValueFromJson(callback), Path("callbacks"));
    CHECK(object.ok()) << object.status();
    *job.add_callbacks() = *ToProto(*object, Path("callbacks"));
  }
  return job;
}

CallbackContext TestContext() {
  CallbackContext context;
  context.directions = {{"accuracy", Direction::kUp},
                        {"auc", Direction::kUp},
                        {"loss", Direction::kDown},
                        {"mae", Direction::kDown}};
  context.log_names = {"accuracy", "auc", "loss", "mae"};
  return context;
}

absl::StatusOr<CallbackRun> RunCallbacks(const json& callbacks,
                                         const json& epochs,
                                         const std::string& before,
                                         bool is_resumed) {
  CallbackRun run;
  run.written = before;
  CallbackContext context = TestContext();
  context.output_size = [&](const std::string&) {
    return static_cast<int64_t>(run.written.size());
  };
  ASSIGN_OR_RETURN(auto list, MakeCallbacks(JobWith(callbacks), context));
  int kept = 0;
  for (size_t epoch = 0; epoch < epochs.size() && !run.stopped; ++epoch) {
    run.weights = static_cast<int>(epoch);
    if (is_resumed && epoch > 0) {
      const std::string saved = list->Save().dump();
      ASSIGN_OR_RETURN(list, MakeCallbacks(JobWith(callbacks), context));
      RETURN_IF_ERROR(list->Restore(json::parse(saved), "callbacks"));
    }
    EpochEnd end;
    end.epoch = static_cast<int>(epoch);
    end.logs = LogsOf(epochs[epoch]);
    const Decision decision = list->EpochEnded(std::move(end));
    Take(decision, run);
    if (decision.keeps_model) kept = run.weights;
    if (decision.stops_training) run.stopped = static_cast<int>(epoch);
  }
  if (list->restores_kept()) run.weights = kept;
  Take(list->TrainingEnded(), run);
  return run;
}

}  // namespace paceline
