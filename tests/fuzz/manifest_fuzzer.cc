// The manifest of a checkpoint, and a leader that goes on from it.
#include <utility>

#include "common/checkpoint/manifest.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_session.h"

namespace paceline {

void Fuzz(FuzzInput input) {
  const std::string folder = FolderWith("manifest.json", input.rest());
  const auto manifest = ReadManifest(folder);
  if (!manifest.ok()) return;
  SessionOptions options = FuzzSessionOptions(v1::CONSISTENCY_ASYNC);
  options.restore_path = folder;
  options.restore = manifest->session;
  FuzzSession session(std::move(options), manifest->step);
  for (int i = 0; i < 8; ++i) session.Work();
}

}  // namespace paceline
