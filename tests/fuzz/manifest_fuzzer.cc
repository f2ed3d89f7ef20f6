// The manifest of a checkpoint, and a leader that goes on from it.
#include <memory>
#include <utility>

#include "common/callback/make_callbacks.h"
#include "common/checkpoint/manifest.h"
#include "glog/logging.h"
#include "nlohmann/json.hpp"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_session.h"

namespace paceline {
namespace {

// Some that have a state.
std::shared_ptr<CallbackList> Callbacks() {
  v1::Job job;
  job.add_callbacks()->set_class_name("EarlyStopping");
  v1::KerasObject& logger = *job.add_callbacks();
  logger.set_class_name("CSVLogger");
  (*logger.mutable_config()->mutable_fields())["filename"].set_string_value(
      "log.csv");
  job.add_callbacks()->set_class_name("TensorBoard");
  v1::KerasObject& checkpoint = *job.add_callbacks();
  checkpoint.set_class_name("ModelCheckpoint");
  (*checkpoint.mutable_config()->mutable_fields())["filepath"].set_string_value(
      "{epoch:02d}-{batch}.keras");
  (*checkpoint.mutable_config()->mutable_fields())["save_freq"]
      .set_number_value(7);
  auto callbacks = MakeCallbacks(job, ContextOf(job, {}));
  CHECK(callbacks.ok()) << callbacks.status();
  return *std::move(callbacks);
}

}  // namespace

void Fuzz(FuzzInput input) {
  const std::string folder = FolderWith("manifest.json", input.rest());
  const auto manifest = ReadManifest(folder);
  if (!manifest.ok()) return;
  SessionOptions options = FuzzSessionOptions(v1::CONSISTENCY_ASYNC);
  options.restore_path = folder;
  options.restore = manifest->session;
  if (manifest->session->contains("callbacks")) {
    options.callbacks = Callbacks();
  }
  FuzzSession session(std::move(options), manifest->step);
  for (int i = 0; i < 8; ++i) session.Work();
}

}  // namespace paceline
