#include "worker/strategy/staged_chunk.h"

#include <glog/logging.h>

#include <cstring>
#include <utility>

namespace paceline {

StagedChunk::Copies StagedChunk::AddBlock(
    absl::Span<std::byte> host_gradients,
    absl::Span<std::byte> host_variables) {
  CHECK_EQ(host_gradients.size(), host_variables.size());
  StagedBlock& block = blocks_.emplace_back();
  block.host_gradients = host_gradients;
  block.host_variables = host_variables;
  block.gradients.resize(host_gradients.size());
  block.variables.resize(host_variables.size());
  return {absl::MakeSpan(block.gradients), absl::MakeSpan(block.variables)};
}

void StagedChunk::StageGradients(absl::Span<DenseValues> gradients) {
  CHECK_EQ(gradients.size(), blocks_.size());
  for (size_t b = 0; b < blocks_.size(); ++b) {
    StagedBlock& block = blocks_[b];
    std::memcpy(block.gradients.data(), block.host_gradients.data(),
                block.host_gradients.size());
    gradients[b].version = block.version;
  }
}

void StagedChunk::TakeVariables(absl::Span<const DenseBuffer> variables) {
  CHECK_EQ(variables.size(), blocks_.size());
  for (size_t b = 0; b < blocks_.size(); ++b) {
    StagedBlock& block = blocks_[b];
    std::memcpy(block.host_variables.data(), block.variables.data(),
                block.variables.size());
    block.version = variables[b].version;
  }
}

}  // namespace paceline
