#include "worker/data/file_shards.h"

#include <algorithm>
#include <cstddef>

#include "glog/logging.h"

namespace paceline {

FileShards::FileShards(const FileLayout& files, int64_t count, int replicas)
    : count_(count), replicas_(replicas) {
  CHECK_GE(count, 1);
  CHECK_GE(replicas, 1);
  if (files.has_file_per_example) return;
  shards_.resize(replicas);
  const std::vector<ExampleSpan> spans = files.SpansWithin(count);
  for (size_t i = 0; i < spans.size(); ++i) {
    Shard& shard = shards_[i % shards_.size()];
    const int64_t before = shard.ends.empty() ? 0 : shard.ends.back();
    shard.begins.push_back(spans[i].begin);
    shard.ends.push_back(before + spans[i].end - spans[i].begin);
  }
}

std::vector<int64_t> FileShards::Sizes() const {
  std::vector<int64_t> sizes;
  for (int replica = 0; replica < replicas_; ++replica) {
    if (shards_.empty()) {
      sizes.push_back((count_ - replica + replicas_ - 1) / replicas_);
    } else {
      const std::vector<int64_t>& ends = shards_[replica].ends;
      sizes.push_back(ends.empty() ? 0 : ends.back());
    }
  }
  return sizes;
}

int64_t FileShards::ExampleAt(int replica, int64_t index) const {
  if (shards_.empty()) return index * replicas_ + replica;
  const Shard& shard = shards_[replica];
  const auto end =
      std::upper_bound(shard.ends.begin(), shard.ends.end(), index);
  CHECK(end != shard.ends.end());
  const auto file = static_cast<size_t>(end - shard.ends.begin());
  return shard.begins[file] + index - (file == 0 ? 0 : shard.ends[file - 1]);
}

}  // namespace paceline
