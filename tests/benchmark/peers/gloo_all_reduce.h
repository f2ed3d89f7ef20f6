// Gloo's all-reduce over TCP, as PyTorch uses it.
#ifndef PACELINE_TESTS_BENCHMARK_PEERS_GLOO_ALL_REDUCE_H_
#define PACELINE_TESTS_BENCHMARK_PEERS_GLOO_ALL_REDUCE_H_

#include <memory>
#include <string>

#include "absl/types/span.h"

namespace paceline::peers {

class GlooAllReduce {
 public:
  // Connects to the other ranks through files in `folder`, which must be empty
  // at first. Blocks.
  GlooAllReduce(const std::string& folder, int rank, int world_size);
  ~GlooAllReduce();

  // Replaces `values` by their sum over all ranks.
  void Run(absl::Span<float> values);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline::peers

#endif  // PACELINE_TESTS_BENCHMARK_PEERS_GLOO_ALL_REDUCE_H_
