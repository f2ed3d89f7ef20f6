#include "common/session/leader/resume_checks.h"

#include <cstdint>
#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/manifest.h"
#include "common/checkpoint/object_reader.h"
#include "common/config/path.h"
#include "common/optimizer/make_optimizer.h"

namespace paceline {

absl::Status CheckAccumulation(const Manifest& restored,
                               const Optimizer& optimizer) {
  // An earlier release, which did not accumulate, has not stored it.
  if (!restored.trained.has_optimizer()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::unique_ptr<const Optimizer> stored,
                   MakeOptimizer(restored.trained.optimizer()));
  const int64_t n = stored->calls_per_update();
  if (n == optimizer.calls_per_update()) return absl::OkStatus();
  const auto initial =
      static_cast<int64_t>(restored.trained.initial_iterations());
  for (const ShardFile& file : restored.shards) {
    const int64_t accumulated = (initial + file.step) % n;
    // A shard whose variables are all frozen stays at step 0.
    if (file.step == 0 || accumulated == 0) continue;
    return ConfigError(
        Path("optimizer").Key("gradient_accumulation_steps"),
        absl::StrCat("got ", optimizer.calls_per_update(),
                     ", but the checkpoint has gradients of ", accumulated,
                     " of the ", n, " calls of an update; expected ", n));
  }
  return absl::OkStatus();
}

absl::Status CheckPhase(const Manifest& restored, const std::string& phase) {
  if (restored.phase == phase) return absl::OkStatus();
  const auto named = [](const std::string& name) {
    return name.empty() ? std::string("a job without phases")
                        : absl::StrCat("phase \"", PeerText(name), "\"");
  };
  return absl::InvalidArgumentError(absl::StrCat(
      "it is of ", named(restored.phase), "; expected one of ", named(phase)));
}

absl::StatusOr<Manifest> ReadResumable(const std::string& folder,
                                       const std::string& phase,
                                       const Optimizer& optimizer) {
  const std::string refused = absl::StrCat("cannot resume from ", folder);
  ASSIGN_OR_RETURN(Manifest manifest, ReadManifest(folder));
  RETURN_IF_ERROR(Annotate(CheckPhase(manifest, phase), refused));
  const ObjectReader session(*manifest.session, "session.");
  if (!session.Count("steps", manifest.step, manifest.step).ok()) {
    return Annotate(
        session.Error("steps", absl::StrCat(manifest.step,
                                            ", the step of the checkpoint")),
        absl::StrCat("cannot use ", folder, "/manifest.json"));
  }
  RETURN_IF_ERROR(Annotate(CheckAccumulation(manifest, optimizer), refused));
  if (!manifest.kept.empty()) {
    const std::filesystem::path path(folder);
    RETURN_IF_ERROR(Annotate(
        ReadManifest((path.parent_path() / manifest.kept).string()).status(),
        absl::StrCat(refused,
                     ", which needs the variables of the best epoch")));
  }
  return manifest;
}

}  // namespace paceline
