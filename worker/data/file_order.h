// An order of all examples in which those of a file follow each other: files
// come in random order, and so do the examples of each. A range of it touches
// few files.
#ifndef PACELINE_WORKER_DATA_FILE_ORDER_H_
#define PACELINE_WORKER_DATA_FILE_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/data_source/file_layout.h"
#include "worker/data/permutation.h"

namespace paceline {

// Takes memory in proportion to the files. Not thread-safe.
class FileOrder {
 public:
  // What each file has; at least one file, and none without examples.
  explicit FileOrder(std::vector<ExampleSpan> files);

  // The order of `key` follows.
  void Begin(uint64_t key);

  // The number in the source of the example at `position`. Takes constant time
  // within a file, and time in proportion to log(files) for another.
  int64_t At(int64_t position);

 private:
  // Makes the file at `slot` of the order of files the current one.
  void Enter(size_t slot);

  const std::vector<ExampleSpan> files_;
  uint64_t key_ = 0;
  std::optional<Permutation> file_order_;
  // For each file in the order of files, the examples in it and those before.
  std::vector<int64_t> ends_;
  // Where the examples of the current file are in the order, its first example,
  // and the order within it.
  ExampleSpan positions_;
  int64_t first_ = 0;
  std::optional<Permutation> within_file_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DATA_FILE_ORDER_H_
