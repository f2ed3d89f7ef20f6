// Runs of callbacks over given logs, which tests/interop/callbacks_expected.py
// has made in Keras.
#ifndef PACELINE_TESTS_UNIT_CALLBACK_CALLBACK_RUNS_H_
#define PACELINE_TESTS_UNIT_CALLBACK_CALLBACK_RUNS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/callback/callback_list.h"
#include "common/callback/make_callbacks.h"
#include "nlohmann/json.hpp"

namespace paceline {

// The cases of a callback in callbacks_expected.json.
nlohmann::json ExpectedCases(const std::string& key);

// The logs of an epoch; texts are infinities and NaN.
Logs LogsOf(const nlohmann::json& logs);

// A job with these callbacks: [{"EarlyStopping": {"patience": 2}}].
v1::Job JobWith(const nlohmann::json& callbacks);

// Of a job with the metrics accuracy, auc and mae.
CallbackContext TestContext();

// What callbacks did with the logs of some epochs, in a file that had `before`.
struct CallbackRun {
  std::optional<int> stopped;
  // The epoch whose variables the model has at the end.
  int weights = 0;
  std::vector<std::string> printed;
  std::vector<std::string> warned;
  std::string written;
};
// With `is_resumed`, new callbacks with the saved state go on after each epoch.
absl::StatusOr<CallbackRun> RunCallbacks(const nlohmann::json& callbacks,
                                         const nlohmann::json& epochs,
                                         const std::string& before,
                                         bool is_resumed);

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_CALLBACK_CALLBACK_RUNS_H_
