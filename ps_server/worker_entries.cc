#include "ps_server/worker_entries.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace paceline {
namespace {

constexpr char kChunkEntry[] = "chunk/";

}  // namespace

SafetensorsMetadata JoinWorkerEntries(
    const std::vector<WorkerEntries>& chunks) {
  SafetensorsMetadata joined;
  if (chunks.empty()) return joined;
  for (const auto& entry : chunks.front()) {
    if (std::all_of(
            chunks.begin(), chunks.end(), [&](const WorkerEntries& chunk) {
              const auto found = chunk.find(entry.first);
              return found != chunk.end() && found->second == entry.second;
            })) {
      joined.insert(entry);
    }
  }
  for (size_t c = 0; c < chunks.size(); ++c) {
    for (const auto& [key, value] : chunks[c]) {
      if (joined.contains(key)) continue;
      joined[absl::StrCat(kChunkEntry, c, "/", key)] = value;
    }
  }
  return joined;
}

std::vector<WorkerEntries> SplitWorkerEntries(const SafetensorsMetadata& joined,
                                              size_t chunk_count) {
  std::vector<WorkerEntries> chunks(chunk_count);
  for (const auto& [key, value] : joined) {
    absl::string_view name = key;
    if (!absl::ConsumePrefix(&name, kChunkEntry)) {
      for (WorkerEntries& chunk : chunks) chunk.emplace(key, value);
      continue;
    }
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(name, absl::MaxSplits('/', 1));
    size_t chunk = 0;
    if (absl::SimpleAtoi(parts.first, &chunk) && chunk < chunk_count) {
      chunks[chunk].emplace(parts.second, value);
    }
  }
  return chunks;
}

}  // namespace paceline
