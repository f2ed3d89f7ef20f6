// The examples of the files that each replica takes: replica r of N takes those
// files whose number i has i mod N == r. Files without examples are not
// counted. tf.data's AutoShardPolicy.FILE divides files by the same rule, but
// among workers (input pipelines), not replicas, and it counts files without
// examples.
#ifndef PACELINE_WORKER_DATA_FILE_SHARDS_H_
#define PACELINE_WORKER_DATA_FILE_SHARDS_H_

#include <cstdint>
#include <vector>

#include "common/data_source/file_layout.h"

namespace paceline {

// Takes memory in proportion to the files, and none if each example is a file.
// Immutable; thread-safe.
class FileShards {
 public:
  // Of the first `count` examples, at least 1.
  FileShards(const FileLayout& files, int64_t count, int replicas);

  // Examples in each replica's files.
  std::vector<int64_t> Sizes() const;

  // The number in the source of example `index` of a replica's files, one file
  // after the other.
  int64_t ExampleAt(int replica, int64_t index) const;

 private:
  // Files, and for each how many examples it has and those before it.
  struct Shard {
    std::vector<int64_t> begins;
    std::vector<int64_t> ends;
  };

  const int64_t count_;
  const int replicas_;
  // Empty if each example is a file.
  std::vector<Shard> shards_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DATA_FILE_SHARDS_H_
